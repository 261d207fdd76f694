/**
 * Caches in memory that the processes of `serve(app, { processes })` share: the first process holds them, and workers
 * ask it. A worker knows a cache by its number: every process makes the same ones, in the same order.
 *
 * @module
 */

import { topic } from '#processes'
import type { CacheStore } from '../../src/ports/cache.ts'

type Call =
  | { readonly cache: number; readonly get: string }
  | { readonly cache: number; readonly set: readonly [key: string, value: string, ttl: number] }
  | { readonly cache: number; readonly add: readonly [key: string, ttl: number] }

type Value = string | number | null

/** A cache that counts. */
export type MemoryCache = CacheStore & Required<Pick<CacheStore, 'increment'>>

const calls = topic<Call, Value>('memory cache')
const caches = new Map<number, MemoryCache>()

/** Lets workers use `cache`, until it is closed. */
export function lent(number: number, cache: MemoryCache): CacheStore {
  caches.set(number, cache)
  const close = async () => {
    caches.delete(number)
    await cache.close?.()
  }
  return { ...cache, close }
}

/** The cache with this number, as a worker sees it. */
export function borrowed(cache: number): CacheStore {
  return {
    async get(key) {
      const value = await calls.ask({ cache, get: key })
      return value === null ? null : String(value)
    },
    set: (key, value, ttl) => calls.ask({ cache, set: [key, value, ttl] }),
    increment: async (key, ttl) => Number(await calls.ask({ cache, add: [key, ttl] })),
  }
}

calls.answer(async (call) => {
  const cache = caches.get(call.cache)
  if (!cache) {
    throw new Error('memoryCache: make the same caches in every process, before serve()')
  }
  if ('get' in call) return (await cache.get(call.get)) ?? null
  if ('add' in call) return cache.increment(...call.add)
  await cache.set(...call.set)
  return null
})
