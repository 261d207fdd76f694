/**
 * Sort orders, and positions in them, written so that an index serves a page at any depth.
 *
 * @module
 */

import type { Scalar, SortKey } from '../../../../src/ports/filter.ts'
import { type Collected, valueAt } from '../layout/operands.ts'
import { type Compilation, comparison } from './filter.ts'

/** Part of what follows a position: records in one range of an index, in the order of `sort`. */
export interface Stretch {
  readonly conditions: readonly string[]
  /** The keys in which the stretch's records differ. */
  readonly sort: readonly SortKey[]
}

/** `sort` as an `ORDER BY` with a leading space, or nothing. */
export function orderBy(sort: readonly SortKey[], collected: Collected): string {
  if (sort.length === 0) return ''
  // A bare name would be that of a column of the result, whose dates are cut.
  const { isAdopted, sql } = collected.table
  const of = isAdopted ? `${sql}.` : ''
  return ` ORDER BY ${sort.map((key) => orderOf(key, collected, of)).join(', ')}`
}

/**
 * One key of an order, as sorts and indexes spell it; `of` comes before a column. PostgreSQL has NULL at the other end
 * than the port.
 */
export function orderOf({ field, descending }: SortKey, collected: Collected, of = ''): string {
  const { ordered, isColumn, isNotNull } = valueAt(field, collected)
  const value = isColumn ? of + ordered : `(${ordered})`
  if (field === '_id' || isNotNull) return descending ? `${value} DESC` : value
  return `${value} ${descending ? 'DESC NULLS LAST' : 'NULLS FIRST'}`
}

/** How the values of one sort key lie to a position, as conditions. */
interface Bounds {
  /** The value is the position's: at most one of these can be true. Called if a later key needs it. */
  ties(): readonly string[]
  /** The value comes later: in one of these ranges, in order. */
  readonly beyond: readonly { readonly condition: string; readonly isConstant?: true }[]
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
  return stretches(
    sort,
    sort.map((key, at) => boundsAt(key, after[at] ?? null, compilation)),
  )
}

/** The same for the position of the record in the `WITH` query of `anchorQuery`. Without a record, nothing follows. */
export function stretchesAfterAnchor(sort: readonly SortKey[], collected: Collected): Stretch[] {
  return stretches(
    sort,
    sort.map((key, at) => anchorBounds(key, at, collected)),
  )
}

/** A `WITH` clause for the position of one row of `rows`, which is a table with a condition. */
export function anchorQuery(sort: readonly SortKey[], rows: string, collected: Collected): string {
  const values = sort.map(({ field }, at) => {
    const { ordered } = valueAt(field, collected)
    return `${ordered} AS value${at}`
  })
  return `WITH anchor AS MATERIALIZED (SELECT ${values.join(', ')} FROM ${rows} LIMIT 1) `
}

function stretches(sort: readonly SortKey[], bounds: readonly Bounds[]): Stretch[] {
  let tied: string[][] = [[]]
  const cut = bounds.map(({ ties, beyond }, at) => {
    const found = tied.flatMap((conditions) =>
      beyond.map(({ condition, isConstant }) => ({
        conditions: [...conditions, condition],
        sort: sort.slice(isConstant ? at + 1 : at),
      })),
    )
    const isLast = at === bounds.length - 1
    const alternatives = isLast ? [] : ties()
    tied = tied.flatMap((conditions) => alternatives.map((tie) => [...conditions, tie]))
    return found
  })
  return cut.reverse().flat()
}

/** The bounds of a known value. */
function boundsAt({ field, descending }: SortKey, value: Scalar, compilation: Compilation): Bounds {
  const operand = valueAt(field, compilation)
  const isNull = `${operand.ordered} IS NULL`
  if (value === null) {
    return {
      ties: () => [isNull],
      beyond: descending ? [] : [{ condition: `${operand.ordered} IS NOT NULL` }],
    }
  }
  const compared = (sign: '=' | '<' | '>') =>
    comparison(operand, sign, value, compilation.parameters)
  const later = { condition: compared(descending ? '<' : '>') }
  const beyond =
    descending && field !== '_id'
      ? [later, { condition: isNull, isConstant: true } as const]
      : [later]
  return { ties: () => [compared('=')], beyond }
}

/**
 * The bounds of the anchor's value, which only the database knows. The tests that do not depend on a row are made once, before
 * a range is read.
 */
function anchorBounds({ field, descending }: SortKey, at: number, collected: Collected): Bounds {
  const { ordered, isNotNull } = valueAt(field, collected)
  const tie = `${ordered} = (SELECT value${at} FROM anchor)`
  const later = {
    condition: `${ordered} ${descending ? '<' : '>'} (SELECT value${at} FROM anchor)`,
  }
  if (field === '_id' || isNotNull) return { ties: () => [tie], beyond: [later] }
  const isNull = `(SELECT value${at} IS NULL FROM anchor)`
  return {
    ties: () => [tie, `${ordered} IS NULL AND ${isNull}`],
    beyond: [
      later,
      descending
        ? { condition: `${ordered} IS NULL AND NOT ${isNull}`, isConstant: true }
        : { condition: `${ordered} IS NOT NULL AND ${isNull}` },
    ],
  }
}
