/** Aggregates: the statement, and its rows as values. */

import {
  type AggregateRead,
  type GroupKey,
  PART_LENGTHS,
} from '../../../../src/ports/store/aggregate.ts'
import type { Scalar } from '../../../../src/ports/store/filter.ts'
import { dateOfJson } from '../../../../src/ports/store/shape.ts'
import { isDateText } from '../../sql/filter.ts'
import { type GroupColumn, selectGroups, type ValueMeasure } from '../../sql/page.ts'
import { kindOf } from '../layout/columns.ts'
import { isoFrom } from '../layout/dates.ts'
import { type Collected, type Compilation, type Operand, valueAt } from '../layout/operands.ts'
import { PARSERS, type Row } from '../layout/rows.ts'
import { restored } from '../layout/sql.ts'
import { compileFilter } from './filter.ts'

export function compileGroups(read: AggregateRead, compiled: Compilation): string {
  return selectGroups(read, compiled.table.sql, [compileFilter(read.filter, compiled)], {
    key: (key) => keyOf(key, valueAt(key.field, compiled)),
    measure: (measure) => measureOf(measure, valueAt(measure.field, compiled)),
    order: (ordered, descending) => `${ordered} ${descending ? 'DESC NULLS LAST' : 'NULLS FIRST'}`,
    count: (rows) => String(Math.trunc(rows)),
  })
}

function keyOf({ part }: GroupKey, { kind, type, sql, ordered }: Operand): GroupColumn {
  if (kind !== 'date') return same(ordered)
  if (part === undefined) return same(sql)
  if (type === 'text') {
    return same(`CASE WHEN ${isDateText(sql, 'date')} THEN left(${sql}, ${PART_LENGTHS[part]}) END`)
  }
  const inUtc = type === 'timestamptz' ? `(${sql}) AT TIME ZONE 'UTC'` : sql
  return same(`date_trunc('${part}', ${inUtc})`)
}

function measureOf({ op }: ValueMeasure, operand: Operand): GroupColumn {
  const { kind, type, sql } = operand
  // Dates inside of JSON are strings, beside which an earlier model may have stored others.
  const filter = type === 'text' ? ` FILTER (WHERE ${isDateText(sql, 'date')})` : ''
  if (kind !== 'number') return same(`${op}(${sql})${filter}`)
  const measured = MEASURED[op](exact(operand))
  return { sql: measured, ordered: rounded(op, measured) }
}

const MEASURED: { readonly [Op in ValueMeasure['op']]: (value: string) => string } = {
  sum: (value) => `coalesce(sum(${value}), 0)`,
  // `avg` may end at 16 digits, as a whole number that is none.
  avg: (value) => `sum(${value}) / (count(${value}) + 0e-40)`,
  min: (value) => `min(${value})`,
  max: (value) => `max(${value})`,
}

function same(sql: string): GroupColumn {
  return { sql, ordered: sql }
}

/** A number with all of its digits: as `numeric`, doubles have 15, and their sums depend on the order of rows. */
function exact({ type, sql }: Operand): string {
  return type === 'bigint' || type === 'numeric' ? sql : `(${sql})::text::numeric`
}

/** Numbers from here on are none of JavaScript's. */
const BEYOND = '1.797693134862315808e308'

/** A number as measures are compared, see `roundedMeasure`. */
function rounded(op: ValueMeasure['op'], number: string): string {
  const digits = `11 - floor(log(abs(${number})))::integer`
  const cut = `round(${number}, ${digits})`
  if (op === 'avg') return `CASE WHEN ${number} = 0 THEN 0 ELSE ${cut} END`
  // Whole as a double, which is what is shown. Not every number has one.
  const double = `(${number})::double precision`
  const isWhole = `CASE WHEN abs(${number}) < 1e16 THEN ${double} = trunc(${double}) AND abs(${double}) <= ${2 ** 53} END`
  return `CASE WHEN ${isWhole} THEN round(${number}) WHEN abs(${number}) < ${BEYOND} THEN ${cut} END`
}

export function groupReader(
  { by, measures }: AggregateRead,
  collected: Collected,
): (row: Row) => Scalar[] {
  const readers = [...by, ...measures].map((one): Reader => {
    if (!('field' in one)) return Number
    const operand = valueAt(one.field, collected)
    if (!('part' in one && one.part)) return readerOf(operand)
    const length = PART_LENGTHS[one.part]
    return operand.type === 'text' ? (text) => text : (text) => isoFrom(text).slice(0, length)
  })
  return (row) => row.map((text, at) => (text === null ? null : (readers[at] as Reader)(text)))
}

type Reader = (text: string) => Scalar

function readerOf({ kind, type }: Operand): Reader {
  if (kind === 'date' && type === 'text') return (text) => dateOfJson(text) as Scalar
  const held = kindOf(kind)
  return held === 'json' ? restored : PARSERS[held]
}
