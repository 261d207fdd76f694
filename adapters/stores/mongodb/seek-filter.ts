/**
 * The rest of an order from a position on, as a filter.
 *
 * @module
 */

import { all, any, type Filter, type Scalar, type SortKey } from '../../../src/ports/filter.ts'

/**
 * The records that match `filter` and come after `position` in the order of `sort`: for each key in turn, those that
 * tie on the keys before it and come later by it.
 *
 * The disjunction is outermost, with the filter in each of its parts, because then the planner finds bounds for each
 * part by itself and merges their index scans: a page costs what it holds, however many records tie.
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

/** What comes later by one key, as alternatives. */
function beyond({ field, descending }: SortKey, value: Scalar): Filter[] {
  if (value === null) return descending ? [] : [{ op: 'ne', field, value }]
  if (!descending) return [{ op: 'gt', field, value }]
  const less: Filter = { op: 'lt', field, value }
  return field === '_id' ? [less] : [less, equal(field, null)]
}

function equal(field: string, value: Scalar): Filter {
  return { op: 'eq', field, value }
}
