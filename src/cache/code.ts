/** What keeps responses, as one value, so that an app may do without it. */

import type { Caches } from './caches.ts'
import type { defaultsOf } from './options.ts'

/** What keeps responses. */
export interface CacheCode {
  readonly Caches: typeof Caches
  readonly defaultsOf: typeof defaultsOf
  /** What routers do with it, by code that knows its exports. */
  readonly reads: unknown
}
