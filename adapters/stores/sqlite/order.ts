/**
 * Sort orders, and positions in them, written so that an index serves a page at any depth.
 *
 * @module
 */

import type { Scalar, SortKey } from '../../../src/ports/filter.ts'
import { boundValue, type Compilation, fieldValue } from './compile.ts'

/** Part of what follows a position: records in one range of an index, in the order of `sort`. */
export interface Stretch {
  readonly conditions: readonly string[]
  /** The keys in which the stretch's records differ. */
  readonly sort: readonly SortKey[]
}

/**
 * `sort` as an `ORDER BY` with a leading space, or nothing. SQLite's NULLs come first ascending, as the port requires.
 */
export function orderBy(sort: readonly SortKey[], { shape }: Compilation): string {
  const keys = sort.map(
    ({ field, descending }) => `${fieldValue(field, shape)}${descending ? ' DESC' : ''}`,
  )
  return keys.length === 0 ? '' : ` ORDER BY ${keys.join(', ')}`
}

/**
 * What follows the position `after`, cut into consecutive stretches: first the records that tie on all keys but the
 * last, then those that tie on all but the last two, and so on. As one condition (`a > 1 OR a = 1 AND b > 2`), SQLite
 * would walk through all ties of the first key on every page.
 */
export function stretchesAfter(
  sort: readonly SortKey[],
  after: readonly Scalar[],
  compilation: Compilation,
): Stretch[] {
  const ties = sort.map(({ field }, at) => tie(field, after[at] ?? null, compilation))
  const last = sort.length - 1
  return sort.toReversed().flatMap((key, distance) => {
    const at = last - distance
    return beyond(key, after[at] ?? null, compilation).map(({ condition, constant }) => ({
      conditions: [...ties.slice(0, at), condition],
      sort: sort.slice(constant ? at + 1 : at),
    }))
  })
}

function tie(field: string, value: Scalar, { shape, parameters }: Compilation): string {
  const expression = fieldValue(field, shape)
  return value === null
    ? `${expression} IS NULL`
    : `${expression} = ${boundValue(value, parameters)}`
}

/** The ranges of a key after a value, in order. */
function beyond(
  { field, descending }: SortKey,
  value: Scalar,
  { shape, parameters }: Compilation,
): { condition: string; constant?: true }[] {
  const expression = fieldValue(field, shape)
  if (value === null) {
    // An index can be searched for the start of a range, unlike IS NOT NULL. Numbers come before strings.
    return descending ? [] : [{ condition: `${expression} >= ${LEAST}` }]
  }
  const bound = boundValue(value, parameters)
  if (!descending) return [{ condition: `${expression} > ${bound}` }]
  const less = { condition: `${expression} < ${bound}` }
  return field === '_id' ? [less] : [less, { condition: `${expression} IS NULL`, constant: true }]
}

/** Minus infinity, before every other value. */
const LEAST = '-9e999'
