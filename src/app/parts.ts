/**
 * The parts that an app may do without. An option is plain data, so it cannot bring the code that it needs: each part is a
 * value that an app names, see index.ts.
 *
 * None is loaded later by `import()`: bundlers keep whatever such a module shares with the rest apart from it, and every
 * bundle would be larger by 3 KiB, whether or not the app has the part.
 */

import { Caches } from '../cache/caches.ts'
import { defaultsOf } from '../cache/options.ts'
import type { AppParts } from '../records/engine/host.ts'
import { readHistory } from '../records/history/history.ts'
import { restore } from '../records/history/restore.ts'
import { fileOf } from '../records/list/export.ts'
import { streamOf } from '../records/live/open.ts'
import { atomicSteps } from '../records/overlay/atomic.ts'
import { cachedReads } from '../records/read/read-cache.ts'

/** Kept responses: the option `cache` of routers and of `createApp`, and the variable `CACHE_ENABLED`. */
export const caching: AppParts = { caching: { Caches, defaultsOf, reads: { cachedReads } } }

/** Live lists: the option `live` of routers. */
export const live: AppParts = { live: async () => ({ streamOf }) }

/** What has happened to a record, and going back to it: the option `history` of routers. */
export const history: AppParts = { history: async () => ({ readHistory, restore }) }

/** Lists as CSV and NDJSON files: the option `exportLimit` of routers. */
export const exports: AppParts = { exports: async () => ({ fileOf }) }

/** Steps of your own code that are stored as one: `app.store.atomic`. */
export const atomic: AppParts = { atomic: async () => ({ atomicSteps }) }
