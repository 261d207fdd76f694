import { expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { idempotency } from '../../src/guards/index.ts'
import { createApp, createRouter, defineModel } from '../../src/index.ts'
import { request } from '../records/service.ts'

const Count = defineModel('KeyedCount', { fields: { n: z.number(), by: z.string().optional() } })

it.each([
  ['without a key', () => ({})],
  ['with a key each', (at: number) => ({ 'Idempotency-Key': `count-${at}` })],
])('PATCHes of one record that a hook judges wait for each other: %s', async (_, headers) => {
  const app = createApp({ store: sqliteStore() })
  onTestFinished(() => app.close())
  app.use(idempotency({ ttlSeconds: 60 }))
  const router = createRouter({
    model: Count,
    allowedFields: ['by'],
    middlewares: [],
    async beforeUpdate({ record, changes }) {
      await new Promise((resolve) => setTimeout(resolve, 2))
      return { ...changes, n: record.n + 1 }
    },
  })
  app.mount('/counts', router)
  const counts = app.store.collection(Count)
  const { _id } = await counts.insert({ n: 0 })
  const responses = await Promise.all(
    Array.from({ length: 8 }, (_, at) =>
      app.handle(
        request('PATCH', `/counts/${_id}`, { json: { by: `${at}` }, headers: headers(at) }),
      ),
    ),
  )
  expect(responses.map(({ status }) => status)).toEqual(Array(8).fill(200))
  expect(await counts.findById(_id)).toMatchObject({ n: 8 })
})
