/** The table, the indexes and the triggers that a collection's schema needs, and the steps to them from what exists. */

import type { CollectionSchema } from '../../../../src/ports/store/store.ts'
import { IndexConflict } from '../../../../src/ports/store/store-errors.ts'
import { leftOverWarning } from '../../left-over.ts'
import { totalOrder } from '../../planner/seek.ts'
import { isLogTrigger, logTriggers } from '../changes/log.ts'
import { isDuplicate } from '../layout/errors.ts'
import { fieldValue, orderOf, SHADOW_PREFIX, type Shadow, shadowsOf } from '../layout/records.ts'
import { STAMP } from '../layout/schema-stamps.ts'
import {
  type Creation,
  emptyingTrigger,
  identifier,
  isDeclaredIndex,
  type Migration,
  orderIndexName,
  type Row,
  type Statement,
  statement,
  uniqueFieldsIn,
  uniqueIndexName,
} from '../layout/sql.ts'

/** An index; of a unique one with its fields. */
interface Index extends Creation {
  readonly fields?: readonly string[]
}

function createTable(table: string, shadows: readonly Shadow[]): string {
  const columns = shadows.map(({ column }) => `, ${column} TEXT`).join('')
  return `CREATE TABLE IF NOT EXISTS ${table} (rowid INTEGER PRIMARY KEY, _id TEXT NOT NULL UNIQUE, ${STAMP} INTEGER, doc TEXT NOT NULL${columns})`
}

/** What every table has had from the beginning. */
const OWN_COLUMNS = ['rowid', '_id', 'doc']

function needsOf(schema: CollectionSchema) {
  const { name: table } = schema
  const shadows = [...shadowsOf(schema).values()]
  const own = shadows.map((shadow) => shadowTrigger(table, shadow))
  return {
    shadows,
    /** They keep stamps and shadows true, whoever else writes, and note changes. */
    triggers: [emptyingTrigger(`${table} ${STAMP}`, table, STAMP), ...own, ...logTriggers(schema)],
    lacking: shadows.map((shadow) => ({ ...lackingIndex(table, shadow), shadow })),
    indexes: indexesOf(schema),
  }
}

/** Empties a shadow if the part of the record that it is made of is changed without it. */
function shadowTrigger(table: string, { name, column, source }: Shadow): Creation {
  const [before, now] = ['old', 'new'].map((row) => source.replace('doc', `${row}.doc`))
  return emptyingTrigger(`${table}${STALE}${name}`, table, column, ` AND ${now} IS NOT ${before}`)
}

/** The index of the records that lack a shadow: nearly always empty. All others have it. */
export function lackingIndex(table: string, { name: of, isLacking }: Shadow): Creation {
  const name = `${table}${LACKING}${of}`
  return { name, sql: `${createIndex('INDEX', name, table, 'rowid')} WHERE ${isLacking}` }
}

const STALE = ' stale '
const LACKING = ' lacking '

/** All indexes. NULLs never clash in SQLite, so unique ones are sparse; plain ones end with `_id`, as total orders do. */
function indexesOf(schema: CollectionSchema): Index[] {
  const { name: table, shape, unique, indexes } = schema
  return [
    ...unique.map((fields): Index => {
      const name = uniqueIndexName(table, fields)
      const keys = fields.map((field) => fieldValue(field, shape)).join(', ')
      return { name, fields, sql: createIndex('UNIQUE INDEX', name, table, keys) }
    }),
    ...indexes.map((declared): Index => {
      const written = declared.map(({ field, descending }) => (descending ? `-${field}` : field))
      const name = orderIndexName(table, written)
      const keys = totalOrder(declared).map((key) => orderOf(key, schema))
      return { name, sql: createIndex('INDEX', name, table, keys.join(', ')) }
    }),
  ]
}

function createIndex(kind: string, name: string, table: string, keys: string): string {
  return `CREATE ${kind} ${identifier(name)} ON ${identifier(table)} (${keys})`
}

function isOfShadow({ table, name }: Readonly<Record<'table' | 'name', string>>): boolean {
  return [STALE, LACKING].some((kind) => name.startsWith(`${table}${kind}${SHADOW_PREFIX}`))
}

export interface Existing {
  /** The names of the columns of each table, by its name in small letters. */
  readonly columns: ReadonlyMap<string, readonly string[]>
  /** Everything that was made by a statement, by its name. */
  readonly made: ReadonlyMap<string, Made>
  /** The same, by the table that it belongs to: thousands of models look for theirs. */
  readonly byTable: ReadonlyMap<string, readonly Made[]>
}

export interface Made extends Creation {
  readonly type: string
  readonly table: string
}

/** Selects the columns of the tables of `schemas`: rows with `table` and `name`. */
export function columnsOf(schemas: readonly CollectionSchema[]): Statement {
  return {
    sql: `SELECT m.name AS "table", c.name AS name FROM sqlite_master AS m, pragma_table_info(m.name) AS c WHERE m.type IN ('table', 'view') AND m.name COLLATE NOCASE IN (SELECT value FROM json_each(?1))`,
    values: [JSON.stringify(schemas.map(({ name }) => name))],
  }
}

/** Selects everything else that was made: rows as `Made`. */
export const OBJECTS: Statement = statement(
  'SELECT type, name, tbl_name AS "table", sql FROM sqlite_master WHERE sql IS NOT NULL',
)

export function existingIn(columns: readonly Row[], objects: readonly Row[]): Existing {
  const columnRows = Map.groupBy(columns, ({ table }) => String(table).toLowerCase())
  const all = objects as readonly unknown[] as readonly Made[]
  return {
    columns: new Map(
      [...columnRows].map(([table, rows]) => [table, rows.map(({ name }) => String(name))]),
    ),
    made: new Map(all.map((one) => [one.name, one])),
    byTable: Map.groupBy(all, ({ table }) => table),
  }
}

export function missingIn<One extends Creation>({ made }: Existing, parts: readonly One[]): One[] {
  return parts.filter(({ name, sql }) => made.get(name)?.sql !== sql)
}

/** The statements that drop what has the name of one of `parts`. */
export function dropsBefore({ made }: Existing, parts: readonly Creation[]): string[] {
  return parts.flatMap(({ name }) => made.get(name) ?? []).map(dropOf)
}

/**
 * Brings a table from what exists to what `schema` needs. What only another version of the app needs stays as it is.
 * Returns the shadows that any record may lack.
 */
export function* stepsTo(
  schema: CollectionSchema,
  existing: Existing,
): Migration<readonly Shadow[]> {
  const { name } = schema
  const table = identifier(name)
  const { shadows, ...needs } = needsOf(schema)
  const columns = existing.columns.get(name.toLowerCase()) ?? []
  const isNew = columns.length === 0
  const absent = isNew ? undefined : OWN_COLUMNS.find((column) => !columns.includes(column))
  if (absent !== undefined) {
    throw new TypeError(
      `the table '${name}' exists, but has no column '${absent}', so fieldgate did not create it. Give the model another 'collection'`,
    )
  }
  const added = shadows.filter((shadow) => !columns.includes(shadow.name))
  const altered = [
    ...(columns.includes(STAMP) ? [] : [`ALTER TABLE ${table} ADD COLUMN ${STAMP} INTEGER`]),
    ...added.map(({ column }) => `ALTER TABLE ${table} ADD COLUMN ${column} TEXT`),
  ]
  const triggers = missingIn(existing, needs.triggers)
  const lacking = missingIn(existing, needs.lacking)
  const indexes = [...lacking, ...missingIn(existing, needs.indexes)]
  const together = [
    ...formerlyOf(existing, name).map(dropOf),
    ...(isNew ? [createTable(table, shadows)] : altered),
    ...dropsBefore(existing, triggers),
    ...triggers.map(({ sql }) => sql),
  ]
  if (together.length > 0) yield together.map(statement)
  for (const index of indexes) yield* create(index, existing, name)
  return isNew ? [] : lacking.map(({ shadow }) => shadow)
}

/**
 * What a table has under an earlier name of its own: someone has renamed the table. Its triggers would note each change twice,
 * and its unique indexes say no field that they are about.
 */
function formerlyOf({ byTable }: Existing, table: string): readonly Made[] {
  const all = byTable.get(table) ?? []
  const stamps = all.filter(({ type, name }) => type === 'trigger' && name.endsWith(STAMPING))
  const former = stamps.map(({ name }) => name.slice(0, -STAMPING.length))
  return all.filter(
    ({ name }) => !name.startsWith(`${table} `) && former.some((one) => name.startsWith(`${one} `)),
  )
}

const STAMPING = ` ${STAMP}`

/** Creates an index in the step that drops what has its name: another process may have made just that, and rely on it. */
function* create(index: Index, existing: Existing, table: string): Migration<void> {
  const { sql, fields } = index
  try {
    yield [...dropsBefore(existing, [index]), sql].map(statement)
  } catch (error) {
    if (!fields || !isDuplicate(error)) throw error
    throw new IndexConflict(table, fields, { cause: error })
  }
}

/** The statement that drops something, and what that is, if it is worth a line. */
export interface Drop {
  readonly sql: string
  readonly what?: string
  /** Whether something of another program may be in its way: a view that is broken, say. */
  readonly mayFail?: true
}

/** Drops what only other versions of `schema` need, in this order. */
export function dropsOf(schema: CollectionSchema, existing: Existing): readonly Drop[] {
  const { name: table } = schema
  const shadows = [...shadowsOf(schema).values()]
  const own = othersOf(schema, existing).flatMap((one): Drop[] => {
    const [sql, isLogs] = [dropOf(one), one.type === 'trigger' && isLogTrigger(table, one.name)]
    if (isLogs) return [{ sql, what: `the trigger ${one.name}, which noted changes` }]
    if (!isDeclaredIndex(one)) {
      // A script without the routers of the app doesn't know what they search.
      return shadows.length > 0 && isOfShadow(one) ? [{ sql }] : []
    }
    const unique = uniqueFieldsIn(table, one.name) ? 'unique ' : ''
    return [{ sql, what: `the ${unique}index ${one.name}` }]
  })
  if (shadows.length === 0) return own
  const columns = (existing.columns.get(table.toLowerCase()) ?? []).filter(
    (column) => column.startsWith(SHADOW_PREFIX) && !shadows.some(({ name }) => name === column),
  )
  return [
    ...own,
    ...columns.map((column) => ({
      what: `the column ${column}, which served a search`,
      sql: `ALTER TABLE ${identifier(table)} DROP COLUMN ${identifier(column)}`,
      mayFail: true as const,
    })),
  ]
}

/** What belongs to the table and is not what `schema` needs. */
function othersOf(schema: CollectionSchema, { byTable }: Existing): readonly Made[] {
  const { triggers, lacking, indexes } = needsOf(schema)
  const names = new Set([...triggers, ...lacking, ...indexes].map(({ name }) => name))
  return (byTable.get(schema.name) ?? []).filter(({ name }) => !names.has(name))
}

/** What start-up says of the indexes that others have declared; `store` as in `leftOverWarning`. */
export function warningsOf(
  store: string,
  schemas: readonly CollectionSchema[],
  existing: Existing,
): readonly string[] {
  return schemas.flatMap((schema) =>
    othersOf(schema, existing)
      .filter(isDeclaredIndex)
      .map(({ table: collection, name }) => {
        const unique = uniqueFieldsIn(collection, name)
        return leftOverWarning(store, { collection, name, unique })
      }),
  )
}

export function dropOf({ type, name }: Pick<Made, 'type' | 'name'>): string {
  return `DROP ${type.toUpperCase()} IF EXISTS ${identifier(name)}`
}

/** A table of SQLite has 2,000 columns, and so has its full-text index, some of which are taken. */
const MAX_SEARCHED = 1900

/**
 * Throws a `TypeError` for what the database has no room for. SQLite ignores the case of ASCII letters in names, so such
 * collections would be one table; `searched` is the number of searched fields for which a table has columns.
 */
export function checkNames(
  schemas: readonly CollectionSchema[],
  searched: number = MAX_SEARCHED,
): void {
  const seen = new Map<string, string>()
  for (const { name, searchable } of schemas) {
    if (searchable.length > searched) {
      throw new TypeError(
        `'${name}' has ${searchable.length} searched fields, and a table of this database has room for ${searched}. Name fewer fields in 'search'`,
      )
    }
    const other = seen.get(name.toLowerCase())
    if (other !== undefined && other !== name) {
      throw new TypeError(`the collections '${other}' and '${name}' differ only in case`)
    }
    seen.set(name.toLowerCase(), name)
  }
}
