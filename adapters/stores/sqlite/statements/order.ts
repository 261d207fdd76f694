/**
 * Sort orders, and positions in them, written so that an index serves a page at any depth.
 *
 * @module
 */

import type { Scalar, SortKey } from '../../../../src/ports/filter.ts'
import { every, some } from '../sql.ts'
import { boundValue, type Compilation, fieldValue } from './filter.ts'

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

/** How the values of one sort key lie to a position, as conditions. */
export interface Bounds {
  /** The value is the position's. */
  readonly tie: string
  /** The value comes later: in one of these ranges, in order. */
  readonly beyond: readonly { readonly condition: string; readonly constant?: true }[]
}

/** How the values of each sort key lie to the position `after`. */
export function boundsAfter(
  sort: readonly SortKey[],
  after: readonly Scalar[],
  compilation: Compilation,
): Bounds[] {
  return sort.map((key, at) => boundsAt(key, after[at] ?? null, compilation))
}

/** The same for the position of a record: `row` is the table with the condition that finds it. Without it, no rows. */
export function boundsAfterRow(
  sort: readonly SortKey[],
  row: string,
  compilation: Compilation,
): Bounds[] {
  return sort.map((key) => boundsOf(key, row, compilation))
}

/** What follows a position, as one condition, which SQLite checks for each record in order. */
export function behind(bounds: readonly Bounds[]): string {
  return bounds.reduceRight((rest, { tie, beyond }) => {
    const later = beyond.map(({ condition }) => condition)
    return some(rest === '' ? later : [...later, every([tie, rest])])
  }, '')
}

/**
 * What follows a position, cut into consecutive stretches: first the records that tie on all keys but the last, then
 * those that tie on all but the last two, and so on. As one condition (`a > 1 OR a = 1 AND b > 2`), SQLite would walk
 * through all ties of the first key on every page.
 */
export function stretches(sort: readonly SortKey[], bounds: readonly Bounds[]): Stretch[] {
  const cut = bounds.map(({ beyond }, at) =>
    beyond.map(({ condition, constant }) => ({
      conditions: [...bounds.slice(0, at).map(({ tie }) => tie), condition],
      sort: sort.slice(constant ? at + 1 : at),
    })),
  )
  return cut.reverse().flat()
}

/** The bounds of a known value. */
function boundsAt(
  { field, descending }: SortKey,
  value: Scalar,
  { shape, parameters }: Compilation,
): Bounds {
  const expression = fieldValue(field, shape)
  const isNull = `${expression} IS NULL`
  if (value === null) {
    // An index can be searched for the start of a range, unlike IS NOT NULL.
    return {
      tie: isNull,
      beyond: descending ? [] : [{ condition: `${expression} >= ${LEAST}` }],
    }
  }
  const bound = boundValue(value, parameters)
  const tie = `${expression} = ${bound}`
  if (!descending) return { tie, beyond: [{ condition: `${expression} > ${bound}` }] }
  const less = { condition: `${expression} < ${bound}` }
  return {
    tie,
    beyond: field === '_id' ? [less] : [less, { condition: isNull, constant: true }],
  }
}

/** The bounds of a row's value, which only the database knows. A range that the value rules out ends before it starts. */
function boundsOf({ field, descending }: SortKey, row: string, { shape }: Compilation): Bounds {
  const expression = fieldValue(field, shape)
  const value = `(SELECT ${expression} FROM ${row})`
  if (field === '_id') {
    return {
      tie: `_id = ${value}`,
      beyond: [{ condition: `_id ${descending ? '<' : '>'} ${value}` }],
    }
  }
  const isNull = `(SELECT ${expression} IS NULL FROM ${row})`
  const [later, nulls] = descending
    ? [`${expression} < ${value}`, `${expression} IS iif(${isNull} = 0, NULL, ${NO_VALUE})`]
    : [`${expression} > ${value}`, `${expression} >= iif(${isNull}, ${LEAST}, NULL)`]
  return {
    tie: `${expression} IS ${value}`,
    beyond: [
      { condition: later },
      descending ? { condition: nulls, constant: true } : { condition: nulls },
    ],
  }
}

/** Minus infinity, before every other value: numbers come before strings. */
const LEAST = '-9e999'
/** What no value in JSON is. */
const NO_VALUE = "x''"
