import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { memoryCache } from '../../adapters/caches/memory.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createApp } from '../../src/index.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

/** An app whose cache closes as `close` says, and whether its store is closed. */
function opened(close: () => Promise<void>) {
  const store = sqliteStore({ path: ':memory:' })
  let isClosed = false
  const told = async () => {
    isClosed = true
    await store.close()
  }
  const app = createApp({
    store: { ...store, close: told },
    cache: { ...memoryCache(), close },
  })
  return { app, isClosed: () => isClosed }
}

it('the store is closed although the cache never closes', async () => {
  const { app, isClosed } = opened(() => new Promise(() => {}))
  const closing = app.close()
  const refused = expect(closing).rejects.toThrow("'cache' has not closed within 30000 ms")
  await vi.advanceTimersByTimeAsync(30_000)
  await refused
  expect(isClosed()).toBe(true)
})

it('the store is closed although the cache fails to close', async () => {
  const { app, isClosed } = opened(() => Promise.reject(new Error('no')))
  await expect(app.close()).rejects.toThrow('no')
  expect(isClosed()).toBe(true)
})
