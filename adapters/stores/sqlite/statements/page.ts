/** The statement of a read: a page of records in order. */

import type { SortKey } from '../../../../src/ports/store/filter.ts'
import type { Read } from '../../../../src/ports/store/records.ts'
import {
  type Bounds,
  boundsAfter,
  type Key,
  type Range,
  stretchesBeyond,
} from '../../planner/seek.ts'
import { every, some } from '../../sql/filter.ts'
import { type PageDialect, selectPage } from '../../sql/page.ts'
import { boundValue, fieldValue, orderOf } from '../layout/records.ts'
import type { Runner } from '../layout/runner.ts'
import { isLonger } from '../layout/sql.ts'
import { type Compilation, where } from './filter.ts'

export interface From {
  readonly columns: string
  /** The table, as an identifier. */
  readonly table: string
  readonly maxBytes?: Runner['maxBytes']
}

/** The statement that returns a read's records in order, of those that meet `conditions`. */
export function compilePage(
  { columns, table, maxBytes }: From,
  read: Read,
  conditions: readonly string[],
  compiled: Compilation,
): string {
  const { filter, sort, after, skip = 0, limit, afterRecord } = read
  const from = `${columns} FROM ${table}`
  const page = { from, filter, conditions, sort, skip, limit }
  const row = afterRecord && `${table}${where(afterRecord, compiled)}`
  if (!row && !after) return selectPage(page, dialect(compiled))
  const bounds = row
    ? boundsAfterRow(sort, row, compiled)
    : boundsAfter(sort, after ?? [], (field): Key => {
        const value = fieldValue(field, compiled.shape)
        return {
          isNull: `${value} IS NULL`,
          // An index can be searched for the start of a range, unlike IS NOT NULL.
          isThere: `${value} >= ${LEAST}`,
          compare: (sign, one) => `${value} ${sign} ${boundValue(one, compiled.parameters)}`,
        }
      })
  const stretches = stretchesBeyond(sort, bounds)
  const inStretches = selectPage({ ...page, stretches }, dialect(compiled))
  if (!isLonger(inStretches, maxBytes)) return inStretches
  // With each condition once: SQLite then looks for the position from the start.
  const found = row ? `WITH ${POSITION} AS (SELECT _id, doc FROM ${row}) ` : ''
  const later = isBehind(row ? boundsAfterRow(sort, POSITION, compiled) : bounds)
  const whole = [{ conditions: [later], sort }]
  return found + selectPage({ ...page, stretches: whole }, dialect(compiled))
}

/** The record to start after, as a table. */
const POSITION = '"fieldgate position"'

function dialect(compiled: Compilation): PageDialect {
  const { parameters } = compiled
  return {
    // SQLite's NULLs come first ascending, as the port requires.
    order: (key) => orderOf(key, compiled),
    // By the value of a parameter alone SQLite plans, and compiles the statement each time: a tenth of a list's time.
    count: (records) => `+${parameters.bind(records)}`,
    // A deep one has an SQL string of its own, so that near pages are not treated as slow because a deep one was.
    offset: (records) =>
      records < DEEP ? parameters.bind(records) : `(${parameters.bind(records)})`,
    oneAfterAnother: (selects) =>
      oneAfterAnother(selects.map((select) => `SELECT * FROM (${select})`)),
  }
}

export const DEEP = 10_000

/** SQLite runs the parts of a `UNION ALL` in turn and stops at the limit; D1 takes five at once. */
function oneAfterAnother(selects: readonly string[]): string {
  if (selects.length <= MAX_TERMS) return selects.join(' UNION ALL ')
  const first = selects.slice(0, MAX_TERMS - 1).join(' UNION ALL ')
  return `${first} UNION ALL SELECT * FROM (${oneAfterAnother(selects.slice(MAX_TERMS - 1))})`
}

const MAX_TERMS = 5

/**
 * The same for the position of a record, which only the database knows: `row` is the table with the condition that finds
 * it. Without it, no rows. A range that its value rules out ends before it starts.
 */
function boundsAfterRow(sort: readonly SortKey[], row: string, { shape }: Compilation): Bounds[] {
  return sort.map(({ field, descending }) => {
    const own = fieldValue(field, shape)
    const value = `(SELECT ${own} FROM ${row})`
    const later = { condition: `${own} ${descending ? '<' : '>'} ${value}` }
    if (field === '_id') return { ties: () => [`_id = ${value}`], beyond: [later] }
    const isNull = `(SELECT ${own} IS NULL FROM ${row})`
    const last = `${own} IS iif(${isNull} = 0, NULL, ${NO_VALUE})`
    const nulls: Range = descending
      ? { condition: last, isConstant: true }
      : { condition: `${own} >= iif(${isNull}, ${LEAST}, NULL)` }
    return { ties: () => [`${own} IS ${value}`], beyond: [later, nulls] }
  })
}

/** What follows a position, as one condition, which SQLite checks for each record in order. */
function isBehind(bounds: readonly Bounds[]): string {
  return bounds.reduceRight((rest, { ties, beyond }) => {
    const later = beyond.map(({ condition }) => condition)
    return some(rest === '' ? later : [...later, every([...ties(), rest])])
  }, '')
}

/** Minus infinity, before every other value: numbers come before strings. */
const LEAST = '-9e999'
/** What no value in JSON is. */
const NO_VALUE = "x''"
