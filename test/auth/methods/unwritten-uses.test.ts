/** Keys where the database takes no writes for a while: what only reads goes on. */

import { expect, it } from 'vitest'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { createRouter, defineModel, type Store } from '../../../src/index.ts'
import { apiKeys } from '../../../src/methods/api-keys/index.ts'
import { StoreUnavailable } from '../../../src/ports/store/store-errors.ts'
import { service } from '../service.ts'

const Task = defineModel('Task', { fields: {} })

/** An app with a key, on a store whose updates wait for `outage` while there is one. */
async function keyed() {
  const store = sqliteStore()
  const state: { outage?: () => Promise<void>; updates: number } = { updates: 0 }
  const faulty: Store = {
    ...store,
    collection(schema) {
      const collection = store.collection(schema)
      return {
        ...collection,
        async update(...given) {
          state.updates += 1
          await state.outage?.()
          return collection.update(...given)
        },
      }
    },
  }
  const app = await service({ store: faulty, auth: { methods: [apiKeys()] } })
  app.app.mount('/tasks', createRouter({ model: Task, middlewares: [app.auth.requireAuth] }))
  const { token } = await app.register('ann@example.com')
  const allow = [{ mount: '/tasks', actions: ['list'] }]
  const { key } = (await app.post('/auth/keys', { name: 'CI', allow }, token)).body.data
  const list = async () => (await app.call('GET', '/tasks', undefined, key)).status
  const lastUsed = async () =>
    (await app.call('GET', '/auth/keys', undefined, token)).body.data[0].lastUsedAt
  return { app, state, list, lastUsed }
}

it('a key opens what it may read while nothing can be written, and its use is noted afterwards', async () => {
  const { app, state, list, lastUsed } = await keyed()
  state.outage = () => Promise.reject(new StoreUnavailable('a read-only transaction'))
  expect(await list()).toBe(200)
  expect(await lastUsed()).toBeNull()
  delete state.outage
  expect(await list()).toBe(200)
  expect(await lastUsed()).toBe(new Date(app.now()).toISOString())
})

it('a key waits for no lock that others have, and adds nothing to what waits for it', async () => {
  const { state, list, lastUsed } = await keyed()
  let unlock = () => {}
  const lock = new Promise<void>((resolve) => {
    unlock = resolve
  })
  state.outage = () => lock
  const before = state.updates
  expect(await Promise.all(Array.from({ length: 5 }, list))).toEqual([200, 200, 200, 200, 200])
  expect(await list()).toBe(200)
  expect(state.updates - before).toBe(1)
  unlock()
  await expect.poll(lastUsed).not.toBeNull()
})
