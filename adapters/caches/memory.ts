/**
 * A cache in this process: choose it if one instance serves the app. The processes of `serve(app, { processes })` share
 * it. Several instances would not know of each other's writes; let them share Redis.
 *
 * @module
 */

import { LRUCache } from 'lru-cache'
import { isWorker, topic } from '#processes'
import { checkOptions, each, natural } from '../../src/model/option-rules.ts'
import type { CacheStore } from '../../src/ports/services/cache.ts'

/** How much is kept. */
export interface MemoryCacheOptions {
  /** The most entries; the least recently used go first. Default 10,000. */
  readonly maxEntries?: number
  /** The most bytes of keys and values. Default 64 MiB. */
  readonly maxBytes?: number
}

const DEFAULT_ENTRIES = 10_000
const DEFAULT_BYTES = 64 * 1024 * 1024
/** What an entry takes beyond its strings, approximately. */
const ENTRY_BYTES = 200

const KEPT = { noUpdateTTL: true }

/** How many caches this process has made. */
let made = 0

/** A bounded cache in memory. */
export function memoryCache(options: MemoryCacheOptions = {}): CacheStore {
  checkOptions({ ...options }, each(natural, 'maxEntries', 'maxBytes'), 'memoryCache')
  const { maxEntries = DEFAULT_ENTRIES, maxBytes = DEFAULT_BYTES } = { ...options }
  made += 1
  const number = made
  if (isWorker) return borrowed(number)
  const entries = new LRUCache<string, string>({
    max: maxEntries,
    maxSize: maxBytes,
    // Looked up each time: tests put clocks of their own in its place.
    perf: { now: () => performance.now() },
    sizeCalculation: (value, key) => 2 * (key.length + value.length) + ENTRY_BYTES,
  })
  const cache: MemoryCache = {
    local: true,
    get: async (key) => entries.get(key),
    peek: (key) => entries.get(key),
    async set(key, value, ttlSeconds) {
      entries.set(key, value, { ttl: ttlSeconds * 1000 })
    },
    async increment(key, ttlSeconds) {
      const count = Number(entries.get(key) ?? 0) + 1
      entries.set(key, String(count), count === 1 ? { ttl: ttlSeconds * 1000 } : KEPT)
      return count
    },
    async close() {
      caches.delete(number)
      entries.clear()
    },
  }
  // Workers use it until it is closed.
  caches.set(number, cache)
  return cache
}

type Call =
  | { readonly cache: number; readonly get: string }
  | { readonly cache: number; readonly set: readonly [key: string, value: string, ttl: number] }
  | { readonly cache: number; readonly add: readonly [key: string, ttl: number] }

type Value = string | number | null

/** A cache that counts. */
type MemoryCache = CacheStore & Required<Pick<CacheStore, 'increment'>>

const calls = topic<Call, Value>('memory cache')
const caches = new Map<number, MemoryCache>()

/** The cache with this number, as a worker sees it. */
function borrowed(cache: number): CacheStore {
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
  if (!cache) throw new Error('memoryCache: make the same caches in every process, before serve()')
  if ('get' in call) return (await cache.get(call.get)) ?? null
  if ('add' in call) return cache.increment(...call.add)
  await cache.set(...call.set)
  return null
})
