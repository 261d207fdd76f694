/**
 * A store in which something else happens at the very moment of a write.
 *
 * @module
 */

import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import type { Collection, Store } from '../../src/index.ts'

/** A store that awaits `meanwhile`, which may write to the same collection, right before each update. */
export function raced(
  meanwhile: (collection: Collection, ...update: Parameters<Collection['update']>) => unknown,
): Store {
  const store = sqliteStore()
  return {
    ...store,
    collection(schema) {
      const collection = store.collection(schema)
      return {
        ...collection,
        async update(...update) {
          await meanwhile(collection, ...update)
          return collection.update(...update)
        },
      }
    },
  }
}
