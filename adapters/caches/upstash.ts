/**
 * A cache in Upstash over its REST API: choose it on Cloudflare Workers, or if TCP is not available.
 *
 * It keeps its promises on a database in one region. Replicas in other regions lag behind, and may return what a write
 * of the app has replaced.
 *
 * @module
 */

import { Redis } from '@upstash/redis'
import { checkOptions, each, whatever } from '../../src/model/option-rules.ts'
import type { CacheStore } from '../../src/ports/services/cache.ts'
import { INCREMENT } from './increment.ts'

/** Where the database is. */
export interface UpstashCacheOptions {
  /** The REST address, `https://….upstash.io`. */
  readonly url: string
  /** The REST token. */
  readonly token: string
}

/** A request without a response for this many milliseconds is aborted. */
const SILENCE_MS = 2000

/** A cache in Upstash, over HTTP. */
export function upstashCache(options: UpstashCacheOptions): CacheStore {
  checkOptions({ ...options }, each(whatever, 'url', 'token'), 'upstashCache')
  const { url, token } = { ...options }
  for (const [name, value] of Object.entries({ url, token })) {
    if (typeof value !== 'string' || value === '')
      throw new TypeError(`upstashCache: '${name}' is needed`)
  }
  const redis = new Redis({
    url,
    token,
    // A repeated SET would bring back what a later one has replaced. `retry: false` still tries twice (1.39).
    retry: { retries: 0 },
    signal: () => AbortSignal.timeout(SILENCE_MS),
    automaticDeserialization: false,
    enableTelemetry: false,
  })
  return {
    get: (key) => redis.get<string>(key).catch(tell),
    set: (key, value, ttlSeconds) => redis.set(key, value, { ex: ttlSeconds }).catch(tell),
    increment: async (key, ttlSeconds) =>
      Number(await redis.eval(INCREMENT, [key], [ttlSeconds]).catch(tell)),
  }
}

/** Throws `error` without the command that the client (1.39) quotes in it: logs must not have what an app keeps. */
function tell({ name, message, cause }: Error): never {
  const [problem] = message.split(', command was:', 1)
  throw Object.assign(new Error(problem, { cause }), { name })
}
