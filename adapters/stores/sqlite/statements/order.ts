/**
 * Sort orders, and positions in them.
 *
 * @module
 */

import type { Scalar, SortKey } from '../../../../src/ports/filter.ts'
import { type Bounds, boundsOfValue } from '../../planner/seek.ts'
import { every, some } from '../../sql/conditions.ts'
import { boundValue, fieldValue } from '../layout/records.ts'
import type { Compilation } from './filter.ts'

/**
 * `sort` as an `ORDER BY` with a leading space, or nothing. SQLite's NULLs come first ascending, as the port requires.
 */
export function orderBy(sort: readonly SortKey[], { shape }: Compilation): string {
  const keys = sort.map(
    ({ field, descending }) => `${fieldValue(field, shape)}${descending ? ' DESC' : ''}`,
  )
  return keys.length === 0 ? '' : ` ORDER BY ${keys.join(', ')}`
}

/** How the values of each sort key lie to the position `after`. */
export function boundsAfter(
  sort: readonly SortKey[],
  after: readonly Scalar[],
  { shape, parameters }: Compilation,
): Bounds[] {
  return sort.map((key, at) => {
    const value = fieldValue(key.field, shape)
    return boundsOfValue(key, after[at] ?? null, {
      isNull: `${value} IS NULL`,
      // An index can be searched for the start of a range, unlike IS NOT NULL.
      isThere: `${value} >= ${LEAST}`,
      compare: (sign, bound) => `${value} ${sign} ${boundValue(bound, parameters)}`,
    })
  })
}

/**
 * The same for the position of a record, which only the database knows: `row` is the table with the condition that finds
 * it. Without it, no rows. A range that its value rules out ends before it starts.
 */
export function boundsAfterRow(
  sort: readonly SortKey[],
  row: string,
  { shape }: Compilation,
): Bounds[] {
  return sort.map(({ field, descending }) => {
    const own = fieldValue(field, shape)
    const value = `(SELECT ${own} FROM ${row})`
    const later = { condition: `${own} ${descending ? '<' : '>'} ${value}` }
    if (field === '_id') return { ties: () => [`_id = ${value}`], beyond: [later] }
    const isNull = `(SELECT ${own} IS NULL FROM ${row})`
    const nulls = descending
      ? ({
          condition: `${own} IS iif(${isNull} = 0, NULL, ${NO_VALUE})`,
          isConstant: true,
        } as const)
      : { condition: `${own} >= iif(${isNull}, ${LEAST}, NULL)` }
    return { ties: () => [`${own} IS ${value}`], beyond: [later, nulls] }
  })
}

/** What follows a position, as one condition, which SQLite checks for each record in order. */
export function isBehind(bounds: readonly Bounds[]): string {
  return bounds.reduceRight((rest, { ties, beyond }) => {
    const later = beyond.map(({ condition }) => condition)
    return some(rest === '' ? later : [...later, every([...ties(), rest])])
  }, '')
}

/** Minus infinity, before every other value: numbers come before strings. */
const LEAST = '-9e999'
/** What no value in JSON is. */
const NO_VALUE = "x''"
