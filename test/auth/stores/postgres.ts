import type { Store } from '../../../src/index.ts'
import { storeAt } from '../../stores/postgres/address.ts'

/** The store in the schema that `place`, an address, names. */
export function open(place: string): Store {
  return storeAt(place)
}
