/**
 * The store of a server under measurement.
 *
 * @module
 */

import type { Store } from '../../src/index.ts'

/** The store at `place`: an address of MongoDB or PostgreSQL, or the path of an SQLite file. Loads only what it needs. */
export async function storeAt(place: string): Promise<Store> {
  if (place.startsWith('mongodb://')) {
    const { mongoStore } = await import('../../adapters/stores/mongodb/index.ts')
    return mongoStore({ url: place, searchIndexes: true })
  }
  if (place.startsWith('postgres://')) {
    const { postgresStore } = await import('../../adapters/stores/postgres/index.ts')
    const url = new URL(place)
    const schema = url.searchParams.get('schema') ?? 'public'
    url.searchParams.delete('schema')
    return postgresStore({ url: url.href, schema })
  }
  const { sqliteStore } = await import('../../adapters/stores/sqlite/node.ts')
  return sqliteStore({ path: place })
}
