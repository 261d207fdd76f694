/**
 * Sort orders, and positions in them, written so that an index serves a page at any depth.
 *
 * @module
 */

import type { Scalar, SortKey } from '../../../src/ports/filter.ts'
import { type Compilation, comparison } from './compile.ts'
import { type Collected, valueAt } from './places.ts'

/** Part of what follows a position: records in one range of an index, in the order of `sort`. */
export interface Stretch {
  readonly conditions: readonly string[]
  /** The keys in which the stretch's records differ. */
  readonly sort: readonly SortKey[]
}

/** `sort` as an `ORDER BY` with a leading space, or nothing. */
export function orderBy(sort: readonly SortKey[], collected: Collected): string {
  return sort.length === 0
    ? ''
    : ` ORDER BY ${sort.map((key) => orderOf(key, collected)).join(', ')}`
}

/** One key of an order, as sorts and indexes spell it. PostgreSQL has NULL at the other end than the port. */
export function orderOf({ field, descending }: SortKey, collected: Collected): string {
  const { ordered, isColumn, isNotNull } = valueAt(field, collected)
  const value = isColumn ? ordered : `(${ordered})`
  if (field === '_id' || isNotNull) return descending ? `${value} DESC` : value
  return `${value} ${descending ? 'DESC NULLS LAST' : 'NULLS FIRST'}`
}

/**
 * What follows the position `after`, cut into consecutive stretches: first the records that tie on all keys but the
 * last, then those that tie on all but the last two, and so on. As one condition (`a > 1 OR a = 1 AND b > 2`), the
 * database would walk through all ties of the first key on every page.
 */
export function stretchesAfter(
  sort: readonly SortKey[],
  after: readonly Scalar[],
  compilation: Compilation,
): Stretch[] {
  const ties = (count: number) =>
    sort.slice(0, count).map(({ field }, at) => tie(field, after[at] ?? null, compilation))
  const last = sort.length - 1
  return sort.toReversed().flatMap((key, distance) => {
    const at = last - distance
    return beyond(key, after[at] ?? null, compilation).map(({ condition, isConstant }) => ({
      conditions: [...ties(at), condition],
      sort: sort.slice(isConstant ? at + 1 : at),
    }))
  })
}

function tie(field: string, value: Scalar, compilation: Compilation): string {
  const operand = valueAt(field, compilation)
  return value === null
    ? `${operand.sql} IS NULL`
    : comparison(operand, '=', value, compilation.parameters)
}

/** The ranges of a key after a value, in order. */
function beyond(
  { field, descending }: SortKey,
  value: Scalar,
  compilation: Compilation,
): { condition: string; isConstant?: true }[] {
  const operand = valueAt(field, compilation)
  if (value === null) return descending ? [] : [{ condition: `${operand.sql} IS NOT NULL` }]
  const sign = descending ? '<' : '>'
  const later = { condition: comparison(operand, sign, value, compilation.parameters) }
  if (!descending || field === '_id') return [later]
  return [later, { condition: `${operand.sql} IS NULL`, isConstant: true }]
}
