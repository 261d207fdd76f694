import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import type { Store } from '../../../src/index.ts'

/** The store in the database that `place`, an address, names. */
export function open(place: string): Store {
  return mongoStore({ url: place })
}
