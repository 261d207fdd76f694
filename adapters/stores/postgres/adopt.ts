/**
 * Tables of other programs: how a model's fields are read from and written to their columns. They are never altered.
 *
 * @module
 */

import type { Shape } from '../../../src/ports/shape.ts'
import type { CollectionSchema } from '../../../src/ports/store.ts'
import {
  type ExistingColumn,
  type ExistingIndex,
  type ExistingTable,
  existingTable,
} from './catalog.ts'
import { type Column, type ColumnKind, FOLD, type Table, tableSql } from './columns.ts'
import type { Connection } from './connection.ts'
import { type DateType, readableDate, readableDateJson } from './dates.ts'
import { orderOf } from './order.ts'
import type { Prepared } from './schema.ts'
import { searchColumn } from './search.ts'
import { identifier } from './sql.ts'

/** The table that a collection adopts, from what the database knows of it. Throws a `TypeError` with the SQL to run. */
export function adoptedTable(
  schema: CollectionSchema,
  space: string,
  existing?: ExistingTable,
): Table {
  const { name = '', columns: renamed = {} } = schema.adopted ?? {}
  const sql = tableSql(space, name)
  if (!existing)
    throw new TypeError(`postgresStore: the table ${sql} of '${schema.name}' does not exist`)
  const columns = [...schema.shape.fields].map(([field, shape]): Column => {
    const column = renamed[field] ?? field
    const found = existing.columns.get(column)
    if (!found)
      refuse(
        sql,
        `has no column ${identifier(column)} for '${field}'`,
        `ADD COLUMN ${identifier(column)} ${suggested(shape)}`,
      )
    const absence = field === '_id' ? 'never' : (schema.absence?.get(field) ?? 'null')
    const known = {
      field,
      name: column,
      sql: identifier(column),
      shape,
      absence,
      isNotNull: found.isNotNull,
    }
    return { ...known, type: found.type, ...readingOf(sql, known.sql, shape, found) }
  })
  const byField = new Map(columns.map((column) => [column.field, column]))
  const constraints = [...existing.indexes].flatMap(([index, { isUnique, columns: names }]) => {
    const fields = names.map((one) => columns.find((column) => column.name === one)?.field ?? one)
    return isUnique ? [[index, declaredSet(schema, fields)] as const] : []
  })
  return {
    name: schema.name,
    sql,
    id: byField.get('_id')?.sql ?? '',
    columns,
    byField,
    hasNulls: false,
    isAdopted: true,
    fold: `${identifier(space)}.${FOLD}`,
    constraints: new Map(constraints),
  }
}

/** The fields in the order of the model's unique set, if it has one of them. */
function declaredSet({ unique }: CollectionSchema, fields: readonly string[]): readonly string[] {
  return unique.find((set) => isSameSet(set, fields)) ?? fields
}

function isSameSet(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((one) => others.includes(one))
}

function refuse(table: string, problem: string, alteration: string): never {
  throw new TypeError(`postgresStore: ${table} ${problem}. Run: ALTER TABLE ${table} ${alteration}`)
}

function suggested(shape: Shape): string {
  switch (shape.kind) {
    case 'number':
      return shape.isInteger ? 'bigint' : 'double precision'
    case 'boolean':
      return 'boolean'
    case 'date':
      return 'timestamp with time zone'
    case 'string':
    case 'id':
      return 'text'
    default:
      return 'jsonb'
  }
}

type Reading = Pick<Column, 'kind' | 'value' | 'ordered' | 'isFine' | 'boundAs' | 'fromJson'>

/** A column of an existing type. */
interface Given {
  readonly sql: string
  /** Its type, and the type that a domain is over, without the numbers in parentheses. */
  readonly type: string
  readonly base: string
  readonly collation: string | undefined
  readonly isLoose: boolean
}

const WHOLE = /^(?:smallint|integer|bigint)$/

/** How a column of an existing type holds values of a shape. */
function readingOf(
  table: string,
  sql: string,
  shape: Shape,
  { type, baseType, collation, isLoose }: ExistingColumn,
): Reading {
  const given = { sql, type, base: withoutNumbers(baseType), collation, isLoose }
  const reading = READINGS[shape.kind](given, shape)
  if (reading) return reading
  throw new TypeError(
    `postgresStore: the column ${sql} of ${table} has the type ${type}, which cannot hold the model's ${shape.kind}`,
  )
}

/** `timestamp(3) with time zone` without its `(3)`. */
function withoutNumbers(type: string): string {
  const [start, end] = [type.indexOf('('), type.indexOf(')')]
  return start === -1 ? type : type.slice(0, start) + type.slice(end + 1)
}

const READINGS: {
  readonly [Kind in Shape['kind']]: (given: Given, shape: Shape) => Reading | undefined
} = {
  id: (given) => (WHOLE.test(given.base) ? plain('text', 'bigint', given.sql) : asText(given)),
  string: asText,
  number({ sql, base }) {
    if (WHOLE.test(base)) return plain('number', 'bigint', sql)
    const isNumber = /^(?:numeric|real|double precision)$/.test(base)
    return isNumber ? plain('number', base, sql) : undefined
  },
  boolean: ({ sql, base }) => (base === 'boolean' ? plain('boolean', base, sql) : undefined),
  date: asDate,
  list: asJson,
  object: asJson,
  map: asJson,
  mixed: asJson,
}

function plain(kind: ColumnKind, boundAs: string, value: string, ordered = value): Reading {
  return { kind, value, ordered, boundAs, fromJson: (json) => json }
}

function asText({ sql, base, collation, isLoose }: Given): Reading {
  if (base === 'uuid') return plain('text', 'uuid', sql)
  const isText = base === 'text' || base === 'character varying'
  const value = isText ? sql : `${sql}::text`
  const isByCode = isText && collation === 'C'
  const ordered = isByCode ? value : `${value} COLLATE "C"`
  return plain('text', 'text', isLoose ? ordered : value, ordered)
}

function asDate({ sql, base }: Given): Reading | undefined {
  const type = dateTypeOf(base)
  if (!type) return undefined
  const boundAs = type === 'date' ? 'timestamp' : type
  // Sorted as it is, so that an index on the column serves.
  return { ...plain('date', boundAs, readableDate(sql, type), sql), isFine: true }
}

function dateTypeOf(base: string): DateType | undefined {
  if (base === 'timestamp with time zone') return 'timestamptz'
  if (base === 'timestamp without time zone') return 'timestamp'
  return base === 'date' ? base : undefined
}

function asJson({ sql, type, base }: Given, shape: Shape): Reading | undefined {
  if (base === 'jsonb') return plain('json', 'jsonb', sql)
  if (base === 'json') {
    return { ...plain('json', 'jsonb', `${sql}::jsonb`), fromJson: (json) => `(${json})::json` }
  }
  if (!base.endsWith('[]') || shape.kind !== 'list') return undefined
  const fromJson = (json: string) =>
    `(SELECT list FROM jsonb_to_record(jsonb_build_object('list', ${json})) AS new(list ${type}))`
  return { ...plain('json', 'jsonb', listJson(sql, base, shape.element)), fromJson }
}

/** An array as the JSON of a list. Dates are as JSON has them, and ids are strings. */
function listJson(sql: string, base: string, element: Shape): string {
  const type = base.slice(0, -'[]'.length)
  const isText = element.kind === 'id' || element.kind === 'string'
  if (isText && (WHOLE.test(type) || type === 'numeric')) return `to_jsonb(${sql}::text[])`
  const date = element.kind === 'date' && dateTypeOf(type)
  if (!date) return `to_jsonb(${sql})`
  const json = readableDateJson('one', date)
  return `CASE WHEN ${sql} IS NOT NULL THEN to_jsonb(ARRAY(SELECT ${json} FROM unnest(${sql}) WITH ORDINALITY AS each(one, at) ORDER BY at)) END`
}

/** Checks that an adopted table keeps what the model promises; warns of what is slow. */
export async function checkAdopted(
  connection: Connection,
  { schema, table: { sql }, space }: Prepared,
  trigrams: string | undefined,
  warn: (message: string) => void,
): Promise<void> {
  const existing = await existingTable(connection, sql)
  const table = adoptedTable(schema, space, existing)
  if (!existing) return
  checkUnique(schema, table, existing)
  const messages = [
    ...missingOrders(schema, table, existing),
    ...(trigrams === undefined ? [] : missingSearches(schema, table, existing, trigrams)),
    ...missingDefaults(table, existing),
  ]
  for (const message of messages) warn(`PostgreSQL: ${message}`)
}

function namesOf(table: Table, fields: readonly string[]): string[] {
  return fields.map((field) => table.byField.get(field)?.name ?? '')
}

function usable({ indexes }: ExistingTable): ExistingIndex[] {
  return [...indexes.values()].filter(({ isWhole, isValid }) => isWhole && isValid)
}

function checkUnique({ unique }: CollectionSchema, table: Table, existing: ExistingTable): void {
  for (const fields of [['_id'], ...unique]) {
    const names = namesOf(table, fields)
    const listed = names.map(identifier).join(', ')
    const isKept = usable(existing).some(
      ({ isUnique, columns }) => isUnique && isSameSet(columns, names),
    )
    if (!isKept) refuse(table.sql, `does not keep ${listed} unique`, `ADD UNIQUE (${listed})`)
  }
}

function missingOrders(schema: CollectionSchema, table: Table, existing: ExistingTable): string[] {
  return schema.indexes.flatMap((keys) => {
    const names = namesOf(
      table,
      keys.map(({ field }) => field),
    )
    const serves = ({ columns }: ExistingIndex) => names.every((name, at) => columns[at] === name)
    if (usable(existing).some(serves)) return []
    const on = keys.map((key) => orderOf(key, { schema, table })).join(', ')
    return `no index of ${table.sql} serves ${names.join(', ')}. Run: CREATE INDEX CONCURRENTLY ON ${table.sql} (${on})`
  })
}

function missingSearches(
  schema: CollectionSchema,
  table: Table,
  { indexes }: ExistingTable,
  trigrams: string,
): string[] {
  return schema.searchable.flatMap((path) => {
    const { expression } = searchColumn(path, { schema, table })
    const column = table.byField.get(path.split('.')[0] ?? '')?.name ?? ''
    const serves = ({ definition }: ExistingIndex) =>
      definition.includes(FOLD) && definition.includes(column)
    if ([...indexes.values()].some(serves)) return []
    return `a search in '${path}' reads all of ${table.sql}. Run: CREATE INDEX CONCURRENTLY ON ${table.sql} USING gin (${expression} ${trigrams}.gin_trgm_ops)`
  })
}

function missingDefaults(table: Table, { columns }: ExistingTable): string[] {
  const declared = new Set(table.columns.map(({ name }) => name))
  return [...columns].flatMap(([name, { isNotNull, byDefault }]) =>
    !isNotNull || byDefault !== undefined || declared.has(name)
      ? []
      : `${table.sql} takes no new records of '${table.name}', because the column ${identifier(name)} is NOT NULL and has no default`,
  )
}
