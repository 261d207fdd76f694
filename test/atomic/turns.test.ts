/** Writers of one process that want the same record of a database behind a network. */

import { expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createRouter, defineModel, type Store } from '../../src/index.ts'
import { service } from '../records/service.ts'

const Count = defineModel('TurnCount', { fields: { n: z.int(), name: z.string() } })
const CLIENTS = 8
const ROUNDS = 25

/** The store, some milliseconds away: who asks later may be answered earlier. */
function far(store: Store): Store {
  const away = () => new Promise((resolve) => setTimeout(resolve, Math.random() * 3))
  return {
    ...store,
    collection(schema) {
      const near = store.collection(schema)
      return {
        ...near,
        find: async (read) => {
          await away()
          return near.find(read)
        },
        update: async (filter, change, options) => {
          await away()
          return near.update(filter, change, options)
        },
      }
    },
    write: async (steps) => {
      await away()
      return store.write?.(steps) as never
    },
  }
}

function counting() {
  const { app, send } = service({ store: far(sqliteStore()) })
  onTestFinished(() => app.close())
  const counts = app.store.collection(Count)
  const beforeUpdate = ({ record }: { record: { n: number } }) => ({ n: record.n + 1 })
  app.mount('/counts', createRouter({ model: Count, middlewares: [], beforeUpdate }))
  return { app, send, counts }
}

/** All clients count at once, each time after time; how many of their attempts were refused. */
async function refused(count: (client: number) => Promise<boolean>): Promise<number> {
  const told = await Promise.all(
    Array.from({ length: CLIENTS }, async (_, client) => {
      let refusals = 0
      for (let round = 0; round < ROUNDS; round += 1) if (!(await count(client))) refusals += 1
      return refusals
    }),
  )
  return told.reduce((sum, one) => sum + one, 0)
}

it('steps that were overtaken have their turn before new ones: none is refused', async () => {
  const { app, counts } = counting()
  const { _id } = await counts.insert({ n: 0, name: 'a' })
  const refusals = await refused(() =>
    app.store
      .atomic(async (tx) => {
        const one = await tx.collection(Count).findById(_id)
        await tx.collection(Count).update(_id, { n: Number(one?.n) + 1 })
        return true
      })
      .catch(() => false),
  )
  expect(refusals).toBe(0)
  expect((await counts.findById(_id))?.n).toBe(CLIENTS * ROUNDS)
})

it('steps that add a record and remove it by turns leave what as many turns do', async () => {
  const { app, counts } = counting()
  const turns = [0, 0]
  await refused((client) =>
    app.store
      .atomic(async (tx) => {
        const of = tx.collection(Count)
        const last = await of.findOne({ name: `${client % 2}` })
        if (last) await of.delete(last._id)
        else await of.insert({ n: 1, name: `${client % 2}` })
      })
      .then(() => {
        turns[client % 2] = Number(turns[client % 2]) + 1
        return true
      })
      .catch(() => false),
  )
  const left = await Promise.all(['0', '1'].map((name) => counts.count({ name })))
  expect(left).toEqual(turns.map((times) => times % 2))
})

it('so do writes that beforeUpdate judges: none is refused', async () => {
  const { send, counts } = counting()
  const { _id } = await counts.insert({ n: 0, name: 'a' })
  const refusals = await refused(
    async () => (await send('PATCH', `/counts/${_id}`, { json: { n: 1 } })).status === 200,
  )
  expect(refusals).toBe(0)
  expect((await counts.findById(_id))?.n).toBe(CLIENTS * ROUNDS)
})
