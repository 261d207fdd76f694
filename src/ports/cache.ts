/**
 * The cache port: short-lived copies of answers that may vanish at any moment.
 *
 * A cache is an optimisation, never a truth. The kit gives every call a deadline and takes a failure for a
 * miss, so an adapter throws freely and retries nothing. Promises: test/contract/cache.
 *
 * @module
 */

/** A key-value cache with expiry. Keys and values are opaque strings. */
export interface CacheStore {
  /** The value under `key`, or undefined or null when it is absent or expired. */
  get(key: string): Promise<string | undefined | null>
  /** Stores `value` under `key` for at most `ttlSeconds`, replacing what was there, never in parts. */
  set(key: string, value: string, ttlSeconds: number): Promise<unknown>
  /** Releases connections. Calling it twice is harmless. */
  close?(): Promise<void>
}
