/**
 * A cache in this process: choose it if one instance serves the app. The processes of `serve(app, { processes })` share
 * it. Several instances would not know of each other's writes; let them share Redis.
 *
 * @module
 */

import { LRUCache } from 'lru-cache'
import { isWorker } from '#processes'
import type { CacheStore } from '../../src/ports/cache.ts'
import { borrowed, lent } from './shared-memory.ts'

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
  const { maxEntries = DEFAULT_ENTRIES, maxBytes = DEFAULT_BYTES } = { ...options }
  for (const [name, limit] of Object.entries({ maxEntries, maxBytes })) {
    if (!Number.isSafeInteger(limit) || limit < 1) {
      throw new TypeError(`memoryCache: '${name}' must be a whole number of at least 1`)
    }
  }
  made += 1
  if (isWorker) return borrowed(made)
  const entries = new LRUCache<string, string>({
    max: maxEntries,
    maxSize: maxBytes,
    sizeCalculation: (value, key) => 2 * (key.length + value.length) + ENTRY_BYTES,
  })
  return lent(made, {
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
      entries.clear()
    },
  })
}
