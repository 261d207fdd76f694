import { expect, it, onTestFinished, vi } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { idempotency } from '../../src/guards/index.ts'
import { createApp, createRouter, defineModel } from '../../src/index.ts'
import { hostOf } from '../../src/records/engine/host.ts'
import { Faults } from '../faults/steps/faults.ts'

const Order = defineModel('ClaimedOrder', { fields: { code: z.string() } })

/** An app without routes, whose store loses what `faults` say. */
function faulty() {
  const faults = new Faults()
  const quiet = { debug() {}, info() {}, warn() {}, error() {} }
  const app = createApp({ store: faults.aroundStore(sqliteStore()), logger: quiet })
  onTestFinished(() => app.close())
  return { app, faults }
}

it('a key whose claim is stored, but not answered, is free for the next try', async () => {
  const { app, faults } = faulty()
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

const Page = defineModel('RestoredPage', { fields: { title: z.string() }, changes: true })

/** An app of pages with a page whose title was another one, and its restore with a key, whose first reply is lost. */
async function lostRestore(isRemoved: boolean) {
  const { app, faults } = faulty()
  app.mount(
    '/pages',
    createRouter({
      model: Page,
      allowedFields: ['title'],
      middlewares: [idempotency({ ttlSeconds: 86_400 })],
      history: true,
      access: { restore: true },
    }),
  )
  const ask = async (method: string, path: string, json?: object, key?: string) => {
    const headers = { 'content-type': 'application/json', ...(key && { 'idempotency-key': key }) }
    const body = json && JSON.stringify(json)
    const init = { method, headers, ...(body && { body }) }
    const response = await app.handle(new Request(`http://localhost${path}`, init))
    return { status: response.status, headers: response.headers, ...(await response.json()) }
  }
  const made = await ask('POST', '/pages', { title: 'then' })
  const path = `/pages/${made.data._id}`
  await ask('PATCH', path, { title: 'now' })
  if (isRemoved) await ask('DELETE', path)
  const restore = () =>
    ask('POST', `${path}/restore`, { changeId: made.headers.get('change-id') }, 'k')
  // Two ask whether the store writes several records as one.
  faults.armAt('store.write 3', 'lost')
  expect((await restore()).status).toBe(503)
  faults.disarm()
  return { app, restore, remove: () => ask('DELETE', path) }
}

it('a restore whose reply was lost makes no record again that was removed since', async () => {
  const { app, restore, remove } = await lostRestore(false)
  expect(await app.store.collection(Page).findOne({})).toMatchObject({ title: 'then' })
  expect((await remove()).status).toBe(200)
  expect((await restore()).status).toBe(200)
  expect(await app.store.collection(Page).count()).toBe(0)
})

it('a restore of a removed record whose reply was lost is answered as a POST', async () => {
  const { app, restore } = await lostRestore(true)
  const { status, data, headers } = await restore()
  expect(headers.get('idempotency-replayed')).toBe('true')
  expect([status, data.title, headers.get('location')]).toEqual([201, 'then', `/pages/${data._id}`])
  expect(await app.store.collection(Page).count()).toBe(1)
})

it.each([
  [false, 200],
  [true, 201],
])(
  'a restore whose reply was lost is told when the log has dropped its change: removed %j',
  async (isRemoved, expected) => {
    const { app, restore } = await lostRestore(isRemoved)
    const { changes: log } = hostOf(app.store)
    if (!log) throw new Error('the store has no log')
    vi.spyOn(log, 'history').mockResolvedValue([])
    const { status, data } = await restore()
    expect([status, data?.title]).toEqual([expected, 'then'])
  },
)
