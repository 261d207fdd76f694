/**
 * The records after a position in an order, as a filter.
 *
 * @module
 */

import { all, any, type Filter, type Scalar, type SortKey } from '../../../../src/ports/filter.ts'

/**
 * The records that match `filter` and come after `position` in the order of `sort`: for each key in turn, those that
 * tie on the keys before it and come later by this key.
 *
 * The disjunction is outermost, with the filter in each of its parts: only then does the planner find bounds for each
 * part and merge their index scans. A page costs what it holds, however many records tie.
 */
export function restAfter(
  filter: Filter,
  sort: readonly SortKey[],
  position: readonly Scalar[],
): Filter {
  const ties: Filter[] = []
  const parts: Filter[] = []
  for (const [index, key] of sort.entries()) {
    const value = position[index] ?? null
    for (const later of beyond(key, value)) parts.push(all([...ties, later, filter]))
    ties.push(equal(key.field, value))
  }
  return any(parts)
}

/** The records that come later by one key, as alternatives. */
function beyond({ field, descending }: SortKey, value: Scalar): Filter[] {
  if (value === null) return descending ? [] : [{ op: 'ne', field, value }]
  if (!descending) return [{ op: 'gt', field, value }]
  const less: Filter = { op: 'lt', field, value }
  return field === '_id' ? [less] : [less, equal(field, null)]
}

function equal(field: string, value: Scalar): Filter {
  return { op: 'eq', field, value }
}
