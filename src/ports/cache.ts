/**
 * The cache port: short-lived copies of answers that may vanish at any moment.
 *
 * A cache is an optimisation, never a truth. The kit gives every call a deadline, unless the cache is local, and
 * takes a failure for a miss, so an adapter throws freely. It retries nothing: a `set` that lands a second time, after
 * another one, would bring back what that one has replaced. Promises: src/contract/cache.ts.
 *
 * @module
 */

/** A key-value cache with expiry. Keys and values are opaque strings. */
export interface CacheStore {
  /**
   * Whether this process alone uses it, so that what happens here is all that happens to it, and answers from its
   * own memory, so that it is never waited for. Default false.
   */
  readonly local?: boolean
  /**
   * The value under `key`, or undefined or null when it is absent or expired. Never older than the last `set`
   * of the key that was answered, whichever process made it.
   */
  get(key: string): Promise<string | undefined | null>
  /**
   * Stores `value` under `key` for at most `ttlSeconds`, a whole number, replacing what was there, never in
   * parts. It takes effect at most once, even where it fails.
   */
  set(key: string, value: string, ttlSeconds: number): Promise<unknown>
  /** Releases connections. Calling it twice is harmless. */
  close?(): Promise<void>
}
