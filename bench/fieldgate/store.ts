/**
 * The store of a server under measurement.
 *
 * @module
 */

import type { Store } from '../../src/index.ts'

/** The store at `place`: a MongoDB address, or the path of an SQLite file. Loads only what it needs. */
export async function storeAt(place: string): Promise<Store> {
  if (place.startsWith('mongodb://')) {
    const { mongoStore } = await import('../../adapters/stores/mongodb/index.ts')
    return mongoStore({ url: place, searchIndexes: true })
  }
  const { sqliteStore } = await import('../../adapters/stores/sqlite/node.ts')
  return sqliteStore({ path: place })
}
