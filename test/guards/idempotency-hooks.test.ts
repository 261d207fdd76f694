import { expect, it, onTestFinished, vi } from 'vitest'
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

it('what a repetition was answered while the first request was on its way stays, however that ends', async () => {
  const quiet = { debug() {}, info() {}, warn() {}, error() {} }
  const app = createApp({ store: sqliteStore(), logger: quiet })
  onTestFinished(() => app.close())
  const [written, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const router = createRouter({
    model: Count,
    allowedFields: ['n', 'by'],
    middlewares: [idempotency({ ttlSeconds: 60 })],
    strictAfterCreate: true,
    async runAfterCreate() {
      written.resolve()
      await ended.promise
      throw new Error('the mail server is down')
    },
  })
  app.mount('/counts', router)
  const send = async () => {
    const init = { json: { n: 1 }, headers: { 'Idempotency-Key': 'k' } }
    const response = await app.handle(request('POST', '/counts', init))
    return [response.status, await response.text()]
  }
  const first = send()
  await written.promise
  // Another process knows of the first one what is stored; this one, once a minute has passed.
  const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 61_000)
  onTestFinished(() => clock.mockRestore())
  const repeated = await send()
  expect(repeated[0]).toBe(201)
  ended.resolve()
  expect((await first)[0]).toBe(500)
  expect(await send()).toEqual(repeated)
})
