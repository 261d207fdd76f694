/**
 * A store whose connection can be cut before something is removed, or inserted.
 *
 * @module
 */

import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import type { Store } from '../../../src/ports/store/store.ts'
import { StoreUnavailable } from '../../../src/ports/store/store-errors.ts'

/** The store, and what cuts it and mends it. */
export function cutStore(method: 'delete' | 'insert' = 'delete'): {
  readonly store: Store
  readonly cut: (isCut: boolean) => void
} {
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
          async [method](...given: never[]) {
            if (isCut) throw new StoreUnavailable('the connection was cut')
            return Reflect.apply(collection[method], collection, given)
          },
        }
      },
    },
  }
}
