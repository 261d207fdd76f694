import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import type { Store } from '../../../src/index.ts'

/** The store in the file at `place`. */
export function open(place: string): Store {
  return sqliteStore({ path: place })
}
