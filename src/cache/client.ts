/** Your own Redis client as a cache store: the common clients spell SETEX differently. */

import type { CacheStore } from '../ports/services/cache.ts'

type SetWithExpiry = (key: string, seconds: number, value: string) => Promise<unknown>

/** The methods used of a Redis client: `setEx` of `redis`, `setex` of `ioredis` and `@upstash/redis`. */
export interface RedisClient {
  get(key: string): Promise<unknown>
  readonly setEx?: SetWithExpiry
  readonly setex?: SetWithExpiry
}

/** Routers with the same client share one store, so that a write tells it once. */
const stores = new WeakMap<RedisClient, CacheStore>()

/** A store that uses `client`; undefined if it is not such a client. You close the client yourself. */
export function storeOfClient(client: RedisClient): CacheStore | undefined {
  const setting = (['setEx', 'setex'] as const).find((name) => typeof client?.[name] === 'function')
  if (typeof client?.get !== 'function' || !setting) return undefined
  const store = stores.get(client) ?? {
    async get(key) {
      const value = await client.get(key)
      return typeof value === 'string' ? value : undefined
    },
    // Called as methods of the client, which they are.
    set: async (key, value, ttlSeconds) => client[setting]?.(key, ttlSeconds, value),
  }
  stores.set(client, store)
  return store
}
