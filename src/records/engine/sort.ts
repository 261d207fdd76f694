/**
 * Sort orders.
 *
 * @module
 */

import type { SortKey } from '../../ports/filter.ts'

const byId: SortKey = { field: '_id', descending: false }

/** `keys` as a total order: `_id` is the last key, so that ties are neither skipped nor repeated. */
export function totalOrder(keys: readonly SortKey[]): readonly SortKey[] {
  const end = keys.findIndex((key) => key.field === '_id')
  return end === -1 ? [...keys, byId] : keys.slice(0, end + 1)
}

/** A repeated key keeps its first place and its last direction. */
export function withoutRepeats(keys: readonly SortKey[]): readonly SortKey[] {
  return [...new Map(keys.map((key) => [key.field, key])).values()]
}

/** An order as a string: `-population,_id`. */
export function sortText(keys: readonly SortKey[]): string {
  return keys.map((key) => (key.descending ? `-${key.field}` : key.field)).join(',')
}
