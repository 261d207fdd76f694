/**
 * The statement of a read: a page of records in order, compiled once for each shape of a read, not once for each request,
 * which is a fifth of a list's time here.
 */

import type { Filter, Scalar, SortKey } from '../../../../src/ports/filter.ts'
import type { Read } from '../../../../src/ports/records.ts'
import { isoText } from '../../json-values.ts'
import {
  type Bounds,
  boundsAfter,
  type Key,
  namesOne,
  type Range,
  stretchesBeyond,
} from '../../planner/seek.ts'
import { every, some, whereAll } from '../../sql/filter.ts'
import { type PageDialect, selectPage } from '../../sql/page.ts'
import { boundValue, fieldValue } from '../layout/records.ts'
import { isLonger, type Parameters, type SqlValue, type Statement } from '../layout/sql.ts'
import { type Compilation, where } from './filter.ts'

/** What a statement selects, and from where. */
export interface From {
  readonly columns: string
  /** The table, as an identifier. */
  readonly table: string
  /** The most bytes that the statement may have, if there is a limit. */
  readonly maxBytes?: number | undefined
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
  const page = { from, conditions, sort, skip, limit }
  const row = afterRecord && `${table}${where(afterRecord, compiled)}`
  if (!row && !after) {
    if (namesOne(filter) && skip === 0) return `SELECT ${from}${whereAll(conditions)}`
    return selectPage(page, dialect(compiled))
  }
  const bounds = row
    ? boundsAfterRow(sort, row, compiled)
    : boundsAfter(sort, after ?? [], (field) => keyOf(field, compiled))
  const stretches = stretchesBeyond(sort, bounds)
  const inStretches = selectPage({ ...page, stretches }, dialect(compiled))
  if (!isLonger(inStretches, maxBytes)) return inStretches
  // With each condition once: SQLite then looks for the position from the start.
  const found = row ? `WITH ${POSITION} AS (SELECT _id, doc FROM ${row}) ` : ''
  const later = isBehind(row ? boundsAfterRow(sort, POSITION, compiled) : bounds)
  const all = [{ conditions: [later], sort }]
  return found + selectPage({ ...page, stretches: all }, dialect(compiled))
}

/** The record to start after, as a table. */
const POSITION = '"fieldgate position"'

function dialect(compiled: Compilation): PageDialect {
  const { parameters } = compiled
  return {
    orderBy: (sort: readonly SortKey[]) => orderBy(sort, compiled),
    count: (records) => parameters.bind(records),
    offset: (records) => offset(records, parameters),
    oneAfterAnother: (selects) =>
      oneAfterAnother(selects.map((select) => `SELECT * FROM (${select})`)),
  }
}

/** A deep offset has an SQL string of its own, so that near pages are not treated as slow because a deep one was. */
function offset(records: number, parameters: Parameters): string {
  const bound = parameters.bind(records)
  return records < DEEP ? bound : `(${bound})`
}

/** From so many records on, an offset is deep. */
export const DEEP = 10_000

/** SQLite runs the parts of a `UNION ALL` in turn and stops at the limit; D1 takes five at once. */
function oneAfterAnother(selects: readonly string[]): string {
  if (selects.length <= MAX_TERMS) return selects.join(' UNION ALL ')
  const first = selects.slice(0, MAX_TERMS - 1).join(' UNION ALL ')
  return `${first} UNION ALL SELECT * FROM (${oneAfterAnother(selects.slice(MAX_TERMS - 1))})`
}

const MAX_TERMS = 5

/** `sort` as an `ORDER BY` with a leading space, or nothing. SQLite's NULLs come first ascending, as the port requires. */
function orderBy(sort: readonly SortKey[], { shape }: Compilation): string {
  const keys = sort.map(
    ({ field, descending }) => `${fieldValue(field, shape)}${descending ? ' DESC' : ''}`,
  )
  return keys.length === 0 ? '' : ` ORDER BY ${keys.join(', ')}`
}

function keyOf(field: string, { shape, parameters }: Compilation): Key {
  const value = fieldValue(field, shape)
  return {
    isNull: `${value} IS NULL`,
    // An index can be searched for the start of a range, unlike IS NOT NULL.
    isThere: `${value} >= ${LEAST}`,
    compare: (sign, bound) => `${value} ${sign} ${boundValue(bound, parameters)}`,
  }
}

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

/** So many shapes are kept. */
const MAX_SHAPES = 500
/** More values than this make a statement that is hardly sent again. */
const MAX_VALUES = 30

/** SQL with the places of its values among those of a shape. */
interface Kept {
  readonly sql: string
  readonly places: readonly number[]
}

/** The statements of reads by their shapes. */
export class CompiledPages {
  readonly #kept = new Map<string, Kept>()

  /** The statement that `compile` makes of a read and of what else it depends on, compiled once for its shape. */
  statementOf(read: Read, columns: string, compile: (read: Read) => Statement): Statement {
    const values: SqlValue[] = []
    const shape = shapeOf(read, values)
    if (shape === undefined) return compile(read)
    const key = columns + shape
    const kept = this.#kept.get(key)
    if (!kept) return this.#keep(key, compile(read), values)
    return {
      sql: kept.sql,
      inLists: true,
      values: kept.places.map((place) => values[place] as SqlValue),
    }
  }

  #keep(key: string, compiled: Statement, values: readonly SqlValue[]): Statement {
    const places = compiled.values.map((value) => values.indexOf(value))
    // A value that is there twice doesn't tell its place: then the next read of this shape may.
    const areTold = new Set(values).size === values.length && !places.includes(-1)
    if (areTold && this.#kept.size >= MAX_SHAPES) this.#kept.clear()
    if (areTold) this.#kept.set(key, { sql: compiled.sql, places })
    return compiled
  }
}

/** No name contains it. */
const END = '\0'

/**
 * The shape of a read, whose values are added to `values` as statements bind them. Undefined if its statement depends on
 * more than that.
 */
function shapeOf(read: Read, values: SqlValue[]): string | undefined {
  const { filter, sort, skip = 0, limit, after = [], afterRecord } = read
  let shape = afterRecord ? undefined : filterShape(filter, values)
  if (shape === undefined || values.length > MAX_VALUES) return undefined
  for (const { field, descending } of sort) shape += field + END + (descending ? '-' : '+')
  for (const value of after) {
    const kind = kindOf(value, values)
    if (kind === undefined) return undefined
    shape += kind
  }
  if (skip > 0) values.push(skip, limit + skip)
  values.push(limit)
  return shape + (skip < DEEP ? Math.sign(skip) : 2)
}

function filterShape(filter: Filter, values: SqlValue[]): string | undefined {
  switch (filter.op) {
    case 'and':
    case 'or': {
      let shape = `${filter.op}(`
      for (const one of filter.filters) {
        const inner = filterShape(one, values)
        if (inner === undefined) return undefined
        shape += inner
      }
      return `${shape})`
    }
    case 'in':
    case 'nin': {
      const { op, field, values: list } = filter
      const [only] = list
      const areTexts = list.every((one) => typeof one === 'string' && one.isWellFormed())
      if (typeof only !== 'string' || !areTexts) return undefined
      values.push(list.length === 1 ? only : JSON.stringify(list))
      return op + END + field + END + Math.min(list.length, 2)
    }
    case 'contains':
    case 'matches':
      return undefined
    default: {
      const kind = kindOf(filter.value, values)
      return kind && filter.op + END + filter.field + END + kind
    }
  }
}

/** What SQL tells of a value; the value itself is added to `values`, unless that is all. */
function kindOf(value: Scalar, values: SqlValue[]): string | undefined {
  if (value === null || typeof value === 'boolean') return String(value) + END
  if (value instanceof Date) {
    values.push(isoText(value))
    return `date${END}`
  }
  const isBound = typeof value === 'string' ? value.isWellFormed() : Number.isSafeInteger(value)
  if (!isBound) return undefined
  values.push(value)
  return typeof value + END
}
