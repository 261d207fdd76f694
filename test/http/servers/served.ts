/**
 * What every runtime serves in the black-box suite: an empty atlas, on the store that STORE names.
 *
 * @module
 */

import process from 'node:process'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { atlas } from '../../../examples/atlas/app.ts'
import type { App, Logger } from '../../../src/index.ts'
import type { Store } from '../../../src/ports/store/store.ts'
import { withExtras } from './extras.ts'

const silent: Logger = {
  debug() {},
  info() {},
  warn() {},
  error: (...line) => console.error(...line),
}

/** The app under test. */
export async function served(): Promise<App> {
  return withExtras(
    atlas({
      store: await store(),
      logger: silent,
      secret: 'a secret for tests, 32 characters or more',
      // A busy machine may need a second for a megabyte that comes at once.
      bodyTimeoutMs: 5000,
    }),
  )
}

async function store(): Promise<Store> {
  const url = process.env.STORE ?? 'sqlite'
  if (url.startsWith('postgres')) {
    const { storeAt } = await import('../../stores/postgres/address.ts')
    return storeAt(url)
  }
  if (/^(?:file|https?|:memory:)/.test(url)) {
    const { libsqlStore } = await import('../../../adapters/stores/sqlite/calls/libsql.ts')
    return libsqlStore({ url })
  }
  if (!url.startsWith('mongodb')) return sqliteStore()
  const { mongoStore } = await import('../../../adapters/stores/mongodb/index.ts')
  return mongoStore({ url })
}
