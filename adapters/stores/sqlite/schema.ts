/**
 * Tables and indexes: what a collection's schema needs, and the steps to get there from what exists.
 *
 * @module
 */

import type { SortKey } from '../../../src/ports/filter.ts'
import type { CollectionSchema } from '../../../src/ports/store.ts'
import { fieldValue } from './compile.ts'
import { MARK, markTrigger } from './marks.ts'
import { SHADOW_PREFIX, type Shadow, shadowsOf } from './shadow.ts'
import { caseKept, identifier } from './sql.ts'

/** What a database knows of one table. */
export interface Existing {
  /** The names of its columns; empty if there is no table. */
  readonly columns: readonly string[]
  /** Its indexes and triggers, with the statements that created them. */
  readonly indexes: ReadonlyMap<string, string>
}

/** The steps that bring a table to its schema, in order. */
export interface Steps {
  /** Creates the table, or adds its missing columns, marked as not yet filled. Run them in one transaction. */
  readonly columns: readonly string[]
  /** The shadows that existing records may lack. */
  readonly backfill: readonly Shadow[]
  /** Drops indexes that are recreated under the same name. */
  readonly replaced: readonly string[]
  /** Creates indexes; those of unique fields may fail. */
  readonly indexes: readonly { readonly sql: string; readonly fields?: readonly string[] }[]
  /** Drops what is no longer needed, and the marks of what has been filled. Last, because an earlier step may fail. */
  readonly drops: readonly string[]
}

/** Selects the columns of a table: rows with `name`. */
export const COLUMNS_OF = 'SELECT name FROM pragma_table_info(?1)'

/** Selects the indexes and triggers of a table: rows with `name` and `sql`. */
export const INDEXES_OF =
  "SELECT name, sql FROM sqlite_master WHERE type IN ('index', 'trigger') AND tbl_name = ?1 AND sql IS NOT NULL"

/** The steps from what exists to what `schema` needs. */
export function stepsTo(schema: CollectionSchema, existing: Existing): Steps {
  const table = identifier(schema.name)
  const shadows = [...shadowsOf(schema).values()]
  const wanted = indexesOf(schema)
  const isThere = ({ name, sql }: Index) => existing.indexes.get(name) === sql
  const indexes = wanted.filter((index) => !isThere(index))
  if (existing.columns.length === 0) {
    const columns = [createTable(table, shadows), markTrigger(schema.name)[1]]
    return { columns, backfill: [], replaced: [], indexes, drops: [] }
  }
  const missing = shadows.filter(({ name }) => !existing.columns.includes(name))
  const backfill = shadows.filter(
    (shadow) => missing.includes(shadow) || existing.indexes.has(unfilledOf(schema.name, shadow)),
  )
  const obsolete = obsoleteIndexes(schema, existing, wanted)
  const isReplaced = (dropped: string) => wanted.some(({ name }) => name === dropped)
  const drop = (name: string) => `DROP INDEX IF EXISTS ${identifier(name)}`
  return {
    columns: [
      ...missingMarks(schema.name, existing),
      ...missing.flatMap((shadow) => [
        `ALTER TABLE ${table} ADD COLUMN ${shadow.column} TEXT`,
        `CREATE INDEX ${identifier(unfilledOf(schema.name, shadow))} ON ${table} (_id) WHERE doc IS NULL`,
      ]),
    ],
    backfill,
    replaced: obsolete.filter(isReplaced).map(drop),
    indexes,
    drops: [
      ...obsolete.filter((name) => !isReplaced(name)).map(drop),
      ...backfill.map((shadow) => drop(unfilledOf(schema.name, shadow))),
      ...obsoleteColumns(existing, shadows).map(
        (name) => `ALTER TABLE ${table} DROP COLUMN ${identifier(name)}`,
      ),
    ],
  }
}

/**
 * The name of an index over no rows. While it exists, records may lack the shadow: D1 has no transaction that could
 * span a backfill, and a Worker may be stopped in the middle of it.
 */
function unfilledOf(table: string, { name }: Shadow): string {
  return `${table} unfilled ${name}`
}

/** The name of a unique index. Errors contain it, so it tells which fields clash. */
export function uniqueIndexName(table: string, fields: readonly string[]): string {
  return `${table} unique ${caseKept(JSON.stringify(fields))}`
}

interface Index {
  readonly name: string
  readonly sql: string
  /** Of a unique index, its fields. */
  readonly fields?: readonly string[]
}

function createTable(table: string, shadows: readonly Shadow[]): string {
  const columns = shadows.map(({ column }) => `, ${column} TEXT`).join('')
  return `CREATE TABLE IF NOT EXISTS ${table} (rowid INTEGER PRIMARY KEY, _id TEXT NOT NULL UNIQUE, ${MARK} INTEGER, doc TEXT NOT NULL${columns})`
}

/** What an existing table lacks to keep marks. */
function missingMarks(table: string, { columns, indexes }: Existing): string[] {
  const [name, trigger] = markTrigger(table)
  const column = `ALTER TABLE ${identifier(table)} ADD COLUMN ${MARK} INTEGER`
  return [...(columns.includes(MARK) ? [] : [column]), ...(indexes.has(name) ? [] : [trigger])]
}

/**
 * All indexes of a collection. NULLs never clash in SQLite, so unique indexes are always sparse. Plain ones end with
 * `_id`, as total orders do.
 */
function indexesOf({ name: table, shape, unique, indexes }: CollectionSchema): Index[] {
  const on = ({ field, descending }: SortKey) =>
    `${fieldValue(field, shape)}${descending ? ' DESC' : ''}`
  return [
    ...unique.map((fields): Index => {
      const name = uniqueIndexName(table, fields)
      const keys = fields.map((field) => fieldValue(field, shape)).join(', ')
      return { name, fields, sql: createIndex('UNIQUE INDEX', name, table, keys) }
    }),
    ...indexes.map((declared): Index => {
      const written = declared.map(({ field, descending }) => (descending ? `-${field}` : field))
      const name = `${table} index ${caseKept(JSON.stringify(written))}`
      const ended = declared.some(({ field }) => field === '_id')
      const keys = [...declared.map(on), ...(ended ? [] : ['_id'])].join(', ')
      return { name, sql: createIndex('INDEX', name, table, keys) }
    }),
  ]
}

/** Spelled as the database keeps it, so that it can be compared with what exists. */
function createIndex(kind: string, name: string, table: string, keys: string): string {
  return `CREATE ${kind} ${identifier(name)} ON ${identifier(table)} (${keys})`
}

/** Only fieldgate's own: an index that you created by hand stays. */
function obsoleteIndexes(
  { name: table }: CollectionSchema,
  { indexes }: Existing,
  wanted: readonly Index[],
): string[] {
  const own = (name: string) =>
    name.startsWith(`${table} unique [`) || name.startsWith(`${table} index [`)
  return [...indexes]
    .filter(
      ([name, sql]) =>
        own(name) && !wanted.some((index) => index.name === name && index.sql === sql),
    )
    .map(([name]) => name)
}

function obsoleteColumns({ columns }: Existing, shadows: readonly Shadow[]): string[] {
  return columns.filter(
    (column) =>
      column.startsWith(SHADOW_PREFIX) && !shadows.some((shadow) => shadow.name === column),
  )
}

/** Whether there is nothing to do. */
export function isEmpty(steps: Steps): boolean {
  return Object.values(steps).every((list) => list.length === 0)
}

/** SQLite ignores the case of ASCII letters in names: such collections would be one table. */
export function checkNames(schemas: readonly CollectionSchema[]): void {
  const seen = new Map<string, string>()
  for (const { name } of schemas) {
    const other = seen.get(name.toLowerCase())
    if (other !== undefined && other !== name) {
      throw new TypeError(`the collections '${other}' and '${name}' differ only in case`)
    }
    seen.set(name.toLowerCase(), name)
  }
}
