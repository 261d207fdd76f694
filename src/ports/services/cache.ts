/**
 * The cache port: short-lived copies of responses that may vanish at any moment.
 *
 * Nothing may rely on a cache holding a value. fieldgate puts a deadline on every call, unless the cache is local, and
 * treats a failure as a miss, so an adapter may simply throw. An adapter must not retry: a `set` that takes effect a
 * second time, after a later one, would bring back the value that the later one replaced. extras/contract/cache.ts tests
 * each promise.
 */

/** A key-value cache with expiry. Keys and values are opaque strings. */
export interface CacheStore {
  /**
   * True if only this process uses the cache and it is held in its memory: then nothing else changes it, and calls get
   * no deadline. Default false.
   */
  readonly local?: boolean
  /**
   * The value under `key`, or undefined or null if it is absent or expired. Never older than the last completed `set`
   * of the key, no matter which process made it.
   */
  get(key: string): Promise<string | undefined | null>
  /** What `get` would resolve to, at once. Optional, for a `local` cache: a hit then waits for nothing. */
  peek?(key: string): string | undefined
  /**
   * Stores `value` under `key` for at most `ttlSeconds` (a whole number), replacing the old value as a whole. It takes
   * effect at most once, even if it fails.
   */
  set(key: string, value: string, ttlSeconds: number): Promise<unknown>
  /**
   * Adds one to the whole number under `key`, or to 0 if the key is absent, and resolves to the sum: one step, however
   * many processes count at the same time. The sum 1 is kept for `ttlSeconds`; later ones don't prolong that. Optional:
   * without it, `rateLimit` and `idempotency` can't use the cache.
   */
  increment?(key: string, ttlSeconds: number): Promise<number>
  /** Releases connections. Calling it twice is harmless. */
  close?(): Promise<void>
}
