/**
 * The rest of an order from a position on, as a filter.
 *
 * @module
 */

import type { Document } from 'mongodb'
import { all, any, type Filter, type Scalar, type SortKey } from '../../../src/ports/filter.ts'
import { type ObjectShape, placeOf } from '../../../src/ports/shape.ts'
import { encode } from './documents.ts'

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

/** Whether some key has values of several types, which comparisons in a query keep apart though sorts do not. */
export function isMixed(sort: readonly SortKey[], shape: ObjectShape): boolean {
  return sort.some(({ field }) => placeOf(shape, field)?.shape.kind === 'mixed')
}

/** As `restAfter` for keys with values of several types: expressions compare them as sorts do, but use no index. */
export function restOfMixed(
  sort: readonly SortKey[],
  position: readonly Scalar[],
  shape: ObjectShape,
): Document {
  const ties: Document[] = []
  const parts: Document[] = []
  for (const [index, { field, descending }] of sort.entries()) {
    const found = { $ifNull: [`$${field}`, null] }
    const value = { $literal: encode(position[index] ?? null, placeOf(shape, field)?.shape) }
    parts.push({ $and: [...ties, { [descending ? '$lt' : '$gt']: [found, value] }] })
    ties.push({ $eq: [found, value] })
  }
  return { $expr: { $or: parts } }
}
