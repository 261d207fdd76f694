/**
 * A store whose connection can be cut before something is removed.
 *
 * @module
 */

import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import type { Store } from '../../../src/ports/store/store.ts'
import { StoreUnavailable } from '../../../src/ports/store/store-errors.ts'

/** The store, and what cuts it and mends it. */
export function cutStore(): { readonly store: Store; readonly cut: (isCut: boolean) => void } {
  const store = sqliteStore()
  let isCut = false
  return {
    cut(now) {
      isCut = now
    },
    store: {
      ...store,
      collection(schema) {
        const collection = store.collection(schema)
        return {
          ...collection,
          async delete(...given) {
            if (isCut) throw new StoreUnavailable('the connection was cut')
            return collection.delete(...given)
          },
        }
      },
    },
  }
}
