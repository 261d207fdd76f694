/**
 * The parts that an app may do without. An option is plain data, so it cannot bring the code that it needs: each part is a
 * value that an app names, see index.ts.
 */

import { code } from '../cache/code.ts'
import type { AppParts } from '../records/engine/host.ts'

/** Kept responses: the option `cache` of routers and of `createApp`, and the variable `CACHE_ENABLED`. */
export const caching: AppParts = { caching: code }

/** Live lists: the option `live` of routers. */
export const live: AppParts = { live: () => import('../records/live/open.ts') }

/** What has happened to a record, and going back to it: the option `history` of routers. */
export const history: AppParts = {
  history: async () => ({
    ...(await import('../records/history/history.ts')),
    ...(await import('../records/history/restore.ts')),
  }),
}

/** Lists as CSV and NDJSON files: the option `exportLimit` of routers. */
export const exports: AppParts = { exports: () => import('../records/list/export.ts') }

/** Steps of your own code that are stored as one: `app.store.atomic`. */
export const atomic: AppParts = { atomic: () => import('../records/overlay/atomic.ts') }
