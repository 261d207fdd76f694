/** Short helpers to call a store in the contract's checks. */

import type { Filter, Scalar, SortKey } from '../../../src/ports/store/filter.ts'
import type { Fields, Read } from '../../../src/ports/store/records.ts'
import type { Collection, Store } from '../../../src/ports/store/store.ts'
import { people, person } from './people.ts'

/** People to put in order, with ties, null and nothing. */
export const rows: readonly Fields[] = [
  { name: 'a', age: 2, score: 1 },
  { name: 'b', age: null, score: 1 },
  { name: 'c', score: 2 },
  { name: 'd', age: -3, score: 2 },
  { name: 'e', age: 2, score: 1 },
  { name: 'f', age: 10, score: 2 },
]

/** A prepared collection that holds `records`, each under its `name`. */
export async function holding(store: Store, ...records: readonly Fields[]): Promise<Collection> {
  await store.prepare([people])
  const collection = store.collection(people)
  for (const record of records) await collection.insert(person(record))
  return collection
}

/** A read with the defaults that most cases want. */
export function reading(filter: Filter, more: Partial<Read> = {}): Read {
  return { filter, sort: keys('_id'), limit: 1000, ...more }
}

/** The names of the records that match, in the order of insertion or of `sort`. */
export async function namesOf(
  collection: Collection,
  filter: Filter,
  more: Partial<Read> = {},
): Promise<string> {
  const found = await collection.find(reading(filter, more))
  return found.map((record) => record.name).join(' ')
}

/** Parses sort keys: `-age` is descending. */
export function keys(...names: readonly string[]): SortKey[] {
  return names.map((name) =>
    name.startsWith('-')
      ? { field: name.slice(1), descending: true }
      : { field: name, descending: false },
  )
}

/** A comparison. */
export function where(
  field: string,
  op: 'eq' | 'ne' | 'gt' | 'gte' | 'lt' | 'lte',
  value: Scalar,
): Filter {
  return { op, field, value }
}

/** A membership. */
export function among(field: string, op: 'in' | 'nin', ...values: readonly Scalar[]): Filter {
  return { op, field, values }
}

/** A search. */
export function containing(field: string, text: string): Filter {
  return { op: 'contains', field, text }
}
