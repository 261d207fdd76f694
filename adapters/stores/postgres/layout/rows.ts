/**
 * Records as rows, and back.
 *
 * @module
 */

import type { Fields, Projection } from '../../../../src/ports/store.ts'
import { anyDate, restoreOf } from '../../json-values.ts'
import { type Column, NULLS, type Table } from './columns.ts'
import { dateFrom, dateText } from './dates.ts'
import { identifier, type Statement } from './sql.ts'
import { inStoredJson, restored, restoredValue } from './text.ts'

/** A row as the database sends it: each value as text. */
export type Row = readonly (string | Buffer | null)[]

/** What a statement returned. */
export interface Result {
  readonly rows: readonly Row[]
  /** The number of rows that it read or wrote. */
  readonly count: number
}

/** Runs one statement. */
export type Run = (statement: Statement) => Promise<Result>

/** How rows of some columns become records. */
export interface Reader {
  /** The columns, as SQL. */
  readonly columns: string
  /** A row as a record: `_id` first, then in the model's order. */
  record(row: Row): Fields
}

/** Reads the fields that `select` needs. */
export function readerOf(table: Table, select?: Projection): Reader {
  const columns = table.columns.filter(({ field }) => isSelected(field, select))
  const parsed = columns.map((column) => ({ ...column, parse: parserOf(column) }))
  const nullsAt = columns.some(({ absence }) => absence === 'either') ? columns.length : -1
  const names = columns.map(({ value }) => value)
  return {
    columns: (nullsAt < 0 ? names : [...names, identifier(NULLS)]).join(', '),
    record(row) {
      const record: Fields = {}
      const nulls = nullsIn(row[nullsAt])
      for (const [at, { field, absence, parse }] of parsed.entries()) {
        const text = row[at]?.toString()
        if (text !== undefined) record[field] = parse(text)
        else if (absence === 'null' || nulls?.has(field)) record[field] = null
      }
      return record
    },
  }
}

/** The names in a `text[]`, if there are any. */
export function nullsIn(list: Row[number] | undefined): ReadonlySet<string> | undefined {
  if (!list || list.length <= '{}'.length) return undefined
  const names = list.toString().matchAll(/"((?:[^"\\]|\\.)*)"|([^{},]+)/g)
  return new Set(
    [...names].map(([, quoted, plain]) => quoted?.replace(/\\(.)/g, '$1') ?? plain ?? ''),
  )
}

function isSelected(field: string, select: Projection | undefined): boolean {
  if (!select || field === '_id') return true
  if ('exclude' in select) return !select.exclude.includes(field)
  return select.include.some((path) => path === field || path.startsWith(`${field}.`))
}

type Parse = (text: string) => unknown

/** How a column's text becomes a value. */
export function parserOf({ kind, shape, hasAnyDates }: Column): Parse {
  switch (kind) {
    case 'text':
      return restored
    case 'number':
      return Number
    case 'boolean':
      return (text) => text === 't'
    case 'json': {
      const manner = { orders: true, ...(hasAnyDates && { date: anyDate }) }
      const restore = restoreOf(shape, manner) ?? ((value: unknown) => value)
      return (text) => restore(restoredValue(text, JSON.parse(text)))
    }
    default:
      return dateFrom
  }
}

/** The JSON from which the database makes the row of a new record. Fields that have no column are left out. */
export function rowJson(record: Fields, table: Table): string {
  const row: Fields = {}
  const nulls: string[] = []
  for (const { field, name, kind, absence } of table.columns) {
    const value = record[field]
    if (value === null && absence === 'either') nulls.push(field)
    if (value === undefined || value === null) continue
    row[name] = jsonOf(value, kind)
  }
  if (table.hasNulls) row[NULLS] = nulls
  return inStoredJson(JSON.stringify(row), () => row)
}

/** What `JSON.stringify` makes a column's value of. A date among JSON is written as inside of it, in ISO 8601. */
function jsonOf(value: unknown, kind: Column['kind']): unknown {
  return kind !== 'json' && value instanceof Date ? dateText(value) : value
}

/**
 * An `INSERT` of all rows in a list of such JSON. An adopted table fills in the columns that are not in `fields`.
 */
export function insertRows(table: Table, list: string, fields?: ReadonlySet<string>): string {
  const given = table.columns.filter(({ field }) => fields?.has(field) ?? true)
  const columns = given.map(({ sql, type }) => ({ sql, type }))
  if (table.hasNulls) columns.push({ sql: identifier(NULLS), type: 'text[]' })
  const names = columns.map(({ sql }) => sql).join(', ')
  const typed = columns.map(({ sql, type }) => `${sql} ${type}`).join(', ')
  // Identity columns take a given value only if asked to.
  const overriding = table.isAdopted ? ' OVERRIDING SYSTEM VALUE' : ''
  return `INSERT INTO ${table.sql} (${names})${overriding} SELECT ${names} FROM json_to_recordset(${list}) AS new(${typed})`
}
