/** What keeps responses, as one value, so that an app may do without it. */

import { CachedReads } from './cached.ts'
import { Caches } from './caches.ts'
import { defaultsOf, resolveCache } from './options.ts'

/** What keeps responses. */
export interface CacheCode {
  readonly CachedReads: typeof CachedReads
  readonly Caches: typeof Caches
  readonly defaultsOf: typeof defaultsOf
  readonly resolveCache: typeof resolveCache
}

export const code: CacheCode = { CachedReads, Caches, defaultsOf, resolveCache }
