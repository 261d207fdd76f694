import { expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { idempotency } from '../../src/guards/index.ts'
import { createApp, createRouter, defineModel } from '../../src/index.ts'
import { Faults } from '../faults/steps/faults.ts'

const Order = defineModel('ClaimedOrder', { fields: { code: z.string() } })

it('a key whose claim is stored, but not answered, is free for the next try', async () => {
  const faults = new Faults()
  const quiet = { debug() {}, info() {}, warn() {}, error() {} }
  const app = createApp({ store: faults.aroundStore(sqliteStore()), logger: quiet })
  onTestFinished(() => app.close())
  app.mount(
    '/orders',
    createRouter({
      model: Order,
      allowedFields: ['code'],
      middlewares: [idempotency({ ttlSeconds: 86_400 })],
    }),
  )
  const send = async () => {
    const headers = { 'content-type': 'application/json', 'idempotency-key': 'k' }
    const init = { method: 'POST', headers, body: '{"code":"a"}' }
    return (await app.handle(new Request('http://localhost/orders', init))).status
  }
  faults.armAt('fieldgate_idempotency_keys.insert', 'lost')
  expect(await send()).toBe(503)
  faults.disarm()
  expect([await send(), await send()]).toEqual([201, 201])
  expect(await app.store.collection(Order).count()).toBe(1)
})
