import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { type App, createApp, defineModel, type Store } from '../../../src/index.ts'
import { withService } from '../../services/shared.ts'
import { freshDatabases } from '../../stores/mongodb/databases.ts'
import { freshSchemas } from '../../stores/postgres/schemas.ts'
import { explained } from './order.ts'
import { stepsOver } from './world.ts'

const Place = defineModel('SerialPlace', { fields: { name: z.string() }, unique: ['name'] })
const Guest = defineModel('SerialGuest', { fields: { name: z.string(), at: z.int() } })

/** One step gives up a place and adds guests, the other takes the place at the same time; what that one has seen of the guests. */
async function handedOver(first: App, second: App, name: string): Promise<unknown> {
  const { _id } = await first.store.collection(Place).insert({ name })
  const leaving = first.store.atomic(async (tx) => {
    await tx.collection(Place).delete(_id)
    // Long enough for the other step to meet it half-way.
    for (let at = 0; at < 30; at += 1) await tx.collection(Guest).insert({ name, at })
  })
  await delay(Math.random() * 3)
  const taking = second.store.atomic(async (tx) => {
    const guest = await tx.collection(Guest).findOne({ name })
    await tx.collection(Place).insert({ name })
    return guest
  })
  // Refused if it comes before the other one, or meets it again and again.
  const guest = await taking.catch(({ status }: { status?: number }) => status)
  await leaving
  return guest
}

/** The places that were taken by a step that has not seen the guests of the step that gave them up. */
async function blindOver(stores: readonly Store[]): Promise<string[]> {
  const apps = stores.map((store) => createApp({ store, env: {} }))
  for (const { store } of apps)
    for (const model of [Place, Guest]) await store.collection(model).count()
  const [first, second] = apps as [App, App]
  const blind: string[] = []
  for (let round = 0; round < 40; round += 1) {
    const name = `place ${round}`
    if ((await handedOver(first, second, name)) === null) blind.push(name)
  }
  for (const app of apps) await app.close()
  return blind
}

function serial(name: string, open: () => readonly Store[]): void {
  it(`${name}: some order of all steps explains what each deed of them told`, async () => {
    const calls = await stepsOver(open(), 40)
    expect(calls.length).toBeGreaterThan(20)
    expect(explained(calls)).toBe(calls.length)
  }, 60_000)

  it(`${name}: what a step did not find is not there either once it has what another step gave up`, async () => {
    const blind = await blindOver(open())
    expect(blind).toEqual([])
  }, 60_000)
}

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)
  serial('PostgreSQL', () => {
    const schema = fresh()
    return [postgresStore({ url, schema }), postgresStore({ url, schema })]
  })
})

await withService('mongo', ({ url }) => {
  const fresh = freshDatabases(url)
  serial('MongoDB', () => {
    const database = fresh()
    return [mongoStore({ url, database }), mongoStore({ url, database })]
  })
})
