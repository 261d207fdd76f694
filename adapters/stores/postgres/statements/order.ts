/**
 * Positions in sort orders.
 *
 * @module
 */

import type { SortKey } from '../../../../src/ports/filter.ts'
import type { Read } from '../../../../src/ports/store.ts'
import { type Bounds, boundsOfValue, type Stretch, stretchesBeyond } from '../../planner/seek.ts'
import { type Collected, type Compilation, valueAt } from '../layout/operands.ts'
import { comparison, where } from './filter.ts'

/** Where a page starts. */
export interface Start {
  /** A `WITH` clause that `stretches` need, or nothing. */
  readonly anchor: string
  /** What follows the position; undefined at the beginning. */
  readonly stretches?: readonly Stretch[]
}

/** Where the page of a read starts. */
export function startOf({ sort, after, afterRecord }: Read, compiled: Compilation): Start {
  if (afterRecord) {
    const values = sort.map(({ field }, at) => `${valueAt(field, compiled).ordered} AS value${at}`)
    const rows = `${compiled.table.sql}${where(afterRecord, compiled)}`
    const anchor = `WITH anchor AS MATERIALIZED (SELECT ${values.join(', ')} FROM ${rows} LIMIT 1) `
    const bounds = sort.map((key, at) => anchorBounds(key, at, compiled))
    return { anchor, stretches: stretchesBeyond(sort, bounds) }
  }
  if (!after) return { anchor: '' }
  const bounds = sort.map((key, at) => {
    const operand = valueAt(key.field, compiled)
    return boundsOfValue(key, after[at] ?? null, {
      isNull: `${operand.ordered} IS NULL`,
      isThere: `${operand.ordered} IS NOT NULL`,
      compare: (sign, value) => comparison(operand, sign, value, compiled.parameters),
    })
  })
  return { anchor: '', stretches: stretchesBeyond(sort, bounds) }
}

/**
 * The bounds of the anchor's value, which only the database knows. The tests that do not depend on a row are made once, before
 * a range is read. Without a record, nothing follows.
 */
function anchorBounds({ field, descending }: SortKey, at: number, collected: Collected): Bounds {
  const { ordered, isNotNull } = valueAt(field, collected)
  const value = `(SELECT value${at} FROM anchor)`
  const tie = `${ordered} = ${value}`
  const later = { condition: `${ordered} ${descending ? '<' : '>'} ${value}` }
  if (field === '_id' || isNotNull) return { ties: () => [tie], beyond: [later] }
  const isNull = `(SELECT value${at} IS NULL FROM anchor)`
  const nulls = descending
    ? ({ condition: `${ordered} IS NULL AND NOT ${isNull}`, isConstant: true } as const)
    : { condition: `${ordered} IS NOT NULL AND ${isNull}` }
  return { ties: () => [tie, `${ordered} IS NULL AND ${isNull}`], beyond: [later, nulls] }
}
