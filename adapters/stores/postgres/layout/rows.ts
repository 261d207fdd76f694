/** Records as rows, and back; or rows as JSON, without making the records first, which takes two to six times as long. */

import {
  type Declared,
  declaredAt,
  onlyDeclared,
  withDefaults,
} from '../../../../src/ports/store/declared.ts'
import type { Scalar } from '../../../../src/ports/store/filter.ts'
import type { Fields, Projection } from '../../../../src/ports/store/records.ts'
import { anyDate, restoreOf } from '../../json-values.ts'
import { type Column, NULLS, SEARCH_PREFIX, type Table } from './columns.ts'
import { dateFrom, dateText, isoFrom } from './dates.ts'
import {
  arrayText,
  identifier,
  inStoredJson,
  literal,
  restored,
  restoredValue,
  type Statement,
} from './sql.ts'

/** A row as the database sends it: each value as text. */
export type Row = readonly (string | null)[]

export interface Result {
  readonly rows: readonly Row[]
  readonly count: number
}

export type Run = (statement: Statement) => Promise<Result>

export type Reader = ReturnType<typeof readerOf>

/**
 * Reads the fields that `select` needs; those of a record are `_id`, then in the model's order. With `others`, also those that
 * a newer version of the model has added.
 */
export function readerOf(
  table: Table,
  select?: Projection,
  others = false,
): { readonly columns: string; record(row: Row): Fields } {
  const columns = table.columns.filter(({ field }) => isSelected(field, select))
  const parsed = columns.map((column) => ({ ...column, parse: parserOf(column) }))
  // Another version of the model may have stored null in any of them.
  const nullsAt = table.hasNulls ? columns.length : -1
  const names = columns.map(({ value }) => value)
  if (nullsAt >= 0) names.push(identifier(NULLS))
  const othersAt = others ? names.push(othersIn(table)) - 1 : -1
  return {
    columns: names.join(', '),
    record(row: Row): Fields {
      const record: Fields = {}
      const nulls = nullsIn(row[nullsAt])
      for (const [at, { field, absence, parse }] of parsed.entries()) {
        const text = row[at] ?? null
        if (text !== null) record[field] = parse(text)
        else if (absence === 'null' || nulls?.has(field)) record[field] = null
      }
      addOthers(record, row[othersAt])
      return record
    },
  }
}

/** The columns of a row that `table` has no fields for, as JSON. */
function othersIn({ name, columns }: Table): string {
  const known = arrayText(columns.map((column) => column.name))
  return `to_jsonb(${identifier(name)}.*) - ${literal(known)}::text[] AS "the.others"`
}

function addOthers(record: Fields, json: Row[number] | undefined): void {
  if (!json || json === '{}') return
  const { [NULLS]: nulls, ...others } = restoredValue(json, JSON.parse(json)) as Fields
  for (const [name, value] of Object.entries(others)) {
    const isNull = Array.isArray(nulls) && nulls.includes(name)
    if (!name.startsWith(SEARCH_PREFIX) && (value !== null || isNull)) record[name] = value
  }
}

/** The names in a `text[]`, if there are any. */
export function nullsIn(list: Row[number] | undefined): ReadonlySet<string> | undefined {
  if (!list || list.length <= '{}'.length) return undefined
  const names = list.matchAll(/"((?:[^"\\]|\\.)*)"|([^{},]+)/g)
  return new Set(
    [...names].map(([, quoted, plain]) => quoted?.replace(/\\(.)/g, '$1') ?? plain ?? ''),
  )
}

function isSelected(field: string, select: Projection | undefined): boolean {
  if (!select || field === '_id') return true
  if ('exclude' in select) return !select.exclude.includes(field)
  return select.include.some((path) => path === field || path.startsWith(`${field}.`))
}

export function parserOf({ kind, shape, hasAnyDates }: Column): (text: string) => unknown {
  if (kind !== 'json') return PARSERS[kind]
  const manner = { orders: true, ...(hasAnyDates && { date: anyDate }) }
  const restore = restoreOf(shape, manner)
  return (text) => restore(restoredValue(text, JSON.parse(text)))
}

/** How the text of a value that is no JSON becomes one. */
export const PARSERS: Readonly<Record<Exclude<Column['kind'], 'json'>, (text: string) => Scalar>> =
  { text: restored, number: Number, boolean: (text) => text === 't', date: dateFrom }

/** The JSON from which the database makes the row of a new record. Fields that have no column are left out. */
export function rowJson(record: Fields, table: Table): string {
  const row: Fields = {}
  const nulls: string[] = []
  for (const { field, name, kind, absence } of table.columns) {
    const value = record[field]
    if (value === null && absence === 'either') nulls.push(field)
    if (value === undefined || value === null) continue
    // A date among JSON is written as inside of it, in ISO 8601.
    row[name] = kind !== 'json' && value instanceof Date ? dateText(value) : value
  }
  if (table.hasNulls) row[NULLS] = nulls
  return inStoredJson(JSON.stringify(row))
}

/** An `INSERT` of all rows in a list of such JSON. An adopted table fills in the columns that are not in `fields`. */
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

/** Writes rows of all columns of `table` as JSON of what is declared; with the defaults that they lack if `isFilled`. */
export function jsonWriter(
  table: Table,
  declared: Declared | undefined,
  isFilled: boolean,
): (row: Row) => string {
  const members = inOrder(table.columns).map(({ column, at }) => {
    const { field, absence } = column
    const inside = declared && declaredAt(declared, field)
    const shown = (value: unknown): unknown => {
      if (!inside) return value
      const kept = onlyDeclared(inside, value)
      return isFilled ? withDefaults(inside, kept) : kept
    }
    const start = `${JSON.stringify(field)}:`
    const write = writerOf(column, shown)
    const named = (json: string | undefined) => json && start + json
    // Where the record lacks it.
    const byDefault = named(isFilled ? JSON.stringify(declared?.defaults?.get(field)) : undefined)
    return (row: Row, nulls: ReadonlySet<string> | undefined): string | undefined => {
      const text = row[at] ?? null
      if (text !== null) return named(write(text))
      return absence === 'null' || nulls?.has(field) ? `${start}null` : byDefault
    }
  })
  return (row) => {
    const nulls = table.hasNulls ? nullsIn(row[table.columns.length]) : undefined
    let json = ''
    for (const member of members) {
      const part = member(row, nulls)
      if (part !== undefined) json += json === '' ? part : `,${part}`
    }
    return `{${json}}`
  }
}

/** `_id`, then names that are whole numbers, as objects have them, then the others. */
function inOrder(columns: readonly Column[]): { column: Column; at: number }[] {
  const all = columns.map((column, at) => ({ column, at }))
  const others = all.slice(1).map((one) => [one.column.field, one] as const)
  return [...all.slice(0, 1), ...Object.values(Object.fromEntries(others))]
}

function writerOf(
  column: Column,
  shown: (value: unknown) => unknown,
): (text: string) => string | undefined {
  switch (column.kind) {
    case 'text':
      return (text) => JSON.stringify(restored(text))
    case 'number':
      // PostgreSQL writes 1e+15 and 1e-07 where JavaScript writes 1000000000000000 and 1e-7.
      return (text) => (PLAIN.test(text) ? text : JSON.stringify(Number(text)))
    case 'boolean':
      return (text) => (text === 't' ? 'true' : 'false')
    case 'json': {
      const parse = parserOf(column)
      return (text) => JSON.stringify(shown(parse(text)))
    }
    default:
      return (text) => `"${isoFrom(text)}"`
  }
}

const PLAIN = /^-?\d+(?:\.\d+)?$/
