/** Reads that take MongoDB so long that it lets writes in between. */

import { MongoClient } from 'mongodb'
import { expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { createApp, defineModel } from '../../../src/index.ts'
import { withService } from '../../services/shared.ts'
import { startSingleMongod } from '../../services/single-mongod.ts'
import { freshDatabases } from './databases.ts'

const Purse = defineModel('MomentPurse', { fields: { coins: z.int(), note: z.string() } })
const PURSES = 6000
const note = 'x'.repeat(500)

const total = (purses: readonly { coins: number }[]) =>
  purses.reduce((sum, { coins }) => sum + coins, 0)

await withService('mongo', ({ url }) => {
  const fresh = freshDatabases(url)

  it('a long list and an aggregate see a step whole or not at all', async () => {
    const database = fresh()
    const client = new MongoClient(url)
    onTestFinished(() => client.close())
    const app = createApp({ store: mongoStore({ url, database }) })
    onTestFinished(() => app.close())
    const purses = app.store.collection(Purse)
    await purses.count()
    const native = client.db(database).collection('momentpurses')
    const made = Array.from({ length: PURSES }, () => ({ coins: 1, note }))
    const ids = Object.values((await native.insertMany(made)).insertedIds).map(String)

    let isOver = false
    let moved = 0
    /** Moves coins between purses that are far from each other. */
    async function move(): Promise<void> {
      for (let at = 0; !isOver; at += 1) {
        const [from, to] = [ids[at] ?? '', ids.at(-1 - at) ?? '']
        await app.store.atomic(async (tx) => {
          const of = tx.collection(Purse)
          const [payer, payee] = [await of.findById(from), await of.findById(to)]
          await of.update(from, { coins: Number(payer?.coins) - 1 })
          await of.update(to, { coins: Number(payee?.coins) + 1 })
        })
        moved += 1
      }
    }
    const moving = move()
    const seen = new Set<unknown>()
    for (let reads = 0; reads < 60 || moved < 60; reads += 1) {
      seen.add(total(await purses.find()))
      for (const { sum } of await purses.aggregate({ sum: ['coins'] })) seen.add(sum.coins)
    }
    isOver = true
    await moving
    expect([...seen]).toEqual([PURSES])
  }, 60_000)

  it('a capped collection, which has no such reads, is read all the same', async () => {
    const database = fresh()
    const client = new MongoClient(url)
    onTestFinished(() => client.close())
    await client.db(database).createCollection('momentpurses', { capped: true, size: 100_000 })
    const app = createApp({ store: mongoStore({ url, database }) })
    onTestFinished(() => app.close())
    const purses = app.store.collection(Purse)
    await purses.insert({ coins: 7, note })
    expect(total(await purses.find())).toBe(7)
    expect(await purses.aggregate({ sum: ['coins'] })).toEqual([{ sum: { coins: 7 } }])
  })
})

it('a single server, which has none either, is read all the same', async () => {
  const { url, stop } = await startSingleMongod()
  onTestFinished(stop)
  const app = createApp({ store: mongoStore({ url, database: 'moments' }) })
  onTestFinished(() => app.close())
  const purses = app.store.collection(Purse)
  await purses.insert({ coins: 7, note })
  expect(total(await purses.find())).toBe(7)
  expect(await purses.aggregate({ sum: ['coins'] })).toEqual([{ sum: { coins: 7 } }])
}, 30_000)
