/** The SQL that makes a collection's table, columns and indexes, and what PostgreSQL has no room for. */

import { totalOrder } from '../../planner/seek.ts'
import type { Place } from '../connection/connection.ts'
import { type Column, FOLD, NULLS, SEARCH_PREFIX, type Table } from '../layout/columns.ts'
import { namesIn } from '../layout/indexed-fields.ts'
import {
  type Collected,
  listAt,
  orderOf,
  searchColumn,
  searchLabel,
  valueAt,
} from '../layout/operands.ts'
import {
  identifier,
  literal,
  orderNames,
  primaryKeyName,
  shortName,
  uniqueNames,
} from '../layout/sql.ts'
import { type ExistingColumn, type ExistingTable, OWN } from './catalog.ts'

export interface Prepared extends Place, Collected {
  /** The schema of `pg_trgm`; without it, there are no indexes for searches. */
  readonly trigrams?: string | undefined
}

export interface Index {
  readonly name: string
  /** What comes after its name in `CREATE INDEX`. */
  readonly on: string
  readonly fields?: readonly string[]
  readonly isConstraint: boolean
}

/** Creates a table that does not exist, without its indexes. */
export function createTable(collected: Collected): string {
  const { table } = collected
  const columns = table.columns.map((column) => {
    const required = column.absence === 'never' && column.field !== '_id'
    return `${columnSql(column)}${required ? ' NOT NULL' : ''}`
  })
  const key = `CONSTRAINT ${identifier(primaryKeyName(table.name))} PRIMARY KEY (${table.id})`
  const all = [...columns, ...extraColumns(collected).map(({ sql }) => sql), key]
  return `CREATE TABLE ${table.sql} (\n  ${all.join(',\n  ')}\n)`
}

export function columnSql({ sql, type }: Pick<Column, 'sql' | 'type'>): string {
  return `${sql} ${type}${type === 'text' ? ' COLLATE "C"' : ''}`
}

/** The columns beside those of the fields: what searches need, and the names of nulls. */
export function extraColumns(collected: Collected): { name: string; sql: string }[] {
  const { schema, table } = collected
  const searched = schema.searchable.map((path) => {
    const { name, sql, expression } = searchColumn(path, collected)
    return { name, sql: `${sql} text COLLATE "C" GENERATED ALWAYS AS (${expression}) STORED` }
  })
  const nulls = `${identifier(NULLS)} text[] NOT NULL DEFAULT '{}'`
  return table.hasNulls ? [{ name: NULLS, sql: nulls }, ...searched] : searched
}

/** All indexes of a collection. NULLs never clash, so unique ones are sparse. Plain ones end with `_id`, as orders do. */
export function indexesOf(collected: Prepared): Index[] {
  const { schema, table, trigrams } = collected
  const uniques = uniqueNames(table.name, schema.unique)
  const unique = schema.unique.map((fields, at): Index => {
    const operands = fields.map((field) => valueAt(field, collected))
    const keys = operands.map(({ sql, isColumn }) => (isColumn ? sql : `(${sql})`))
    const isConstraint = operands.every(({ isColumn }) => isColumn)
    return { name: uniques[at] ?? '', on: `(${keys.join(', ')})`, fields, isConstraint }
  })
  const names = orderNames(table.name, schema.indexes)
  const orders = schema.indexes.map((declared, at): Index => {
    const on = `(${totalOrder(declared)
      .map((key) => orderOf(key, collected))
      .join(', ')})`
    return { name: names[at] ?? '', on, isConstraint: false }
  })
  const searches = schema.searchable.map((path): Index => {
    const { sql } = searchColumn(path, collected)
    const on = `USING gin (${sql} ${trigrams}.gin_trgm_ops)`
    const name = shortName(`${table.name}_search_${searchLabel(path, schema)}`)
    return { name, on, isConstraint: false }
  })
  const lists = (schema.lists ?? []).flatMap((field): Index[] => {
    const sql = listAt(field, collected)
    const on = `USING gin (${sql} jsonb_path_ops)`
    const name = shortName(`${table.name}_list_${field}`)
    return sql === undefined ? [] : [{ name, on, isConstraint: false }]
  })
  return [...unique, ...orders, ...lists, ...(trigrams === undefined ? [] : searches)]
}

/** Creates an index; `CONCURRENTLY` does not hold up writes, but cannot run in a transaction. */
export function createIndex({ name, on, fields }: Index, { sql }: Table, how = ''): string {
  return `CREATE ${fields ? 'UNIQUE ' : ''}INDEX ${how} ${identifier(name)} ON ${sql} ${on}`
}

/** What follows once an index is there: a constraint that is named in errors, and a mark. */
export function finishIndex({ name, isConstraint }: Index, { table, space }: Prepared): string[] {
  const index = identifier(name)
  const comment = `COMMENT ON INDEX ${identifier(space)}.${index} IS ${literal(OWN)}`
  const constraint = `ALTER TABLE ${table.sql} ADD CONSTRAINT ${index} UNIQUE USING INDEX ${index}`
  return isConstraint ? [constraint, comment] : [comment]
}

/** Drops an index, or the constraint that it belongs to. */
export function dropIndex(name: string, isConstraint: boolean, { table, space }: Prepared): string {
  return isConstraint
    ? `ALTER TABLE ${table.sql} DROP CONSTRAINT IF EXISTS ${identifier(name)}`
    : `DROP INDEX CONCURRENTLY IF EXISTS ${identifier(space)}.${identifier(name)}`
}

/** Throws a `TypeError` if two models would have tables or indexes of one name, of which a schema has one. */
export function refuseMeetingNames(collections: readonly Prepared[]): void {
  const owners = new Map<string, Prepared['schema']>()
  for (const collection of collections) {
    const { schema } = collection
    for (const name of namesOf(collection)) {
      const other = owners.get(name) ?? schema
      // Two models may adopt one table.
      if (other !== schema && !(other.adopted && schema.adopted)) {
        throw new TypeError(
          `postgresStore: '${name}' would be a table or an index of '${other.name}' and of '${schema.name}'. Give one of these models another 'collection'`,
        )
      }
      owners.set(name, schema)
    }
  }
}

export function namesOf(collection: Prepared): readonly string[] {
  const { schema, table } = collection
  if (schema.adopted) return [schema.adopted.name]
  const indexes = indexesOf(collection).map(({ name }) => name)
  return [table.name, primaryKeyName(table.name), ...indexes]
}

/** A table of PostgreSQL has no more columns, and an index no more. */
const MAX_COLUMNS = 1600
/** A result has at most 1,664; that of a write that is logged has the record before and after, and an id. */
const MAX_LOGGED = 831
const MAX_INDEXED = 32

/** Throws a `TypeError` if a table or an index would have more columns than PostgreSQL takes. */
export function refuseTooMany(collections: readonly Prepared[]): void {
  for (const collection of collections) {
    const { schema, table } = collection
    const indexes = [...schema.unique, ...schema.indexes.map(totalOrder)]
    const longest = schema.adopted ? 0 : Math.max(...indexes.map(({ length }) => length))
    if (longest > MAX_INDEXED) {
      throw new TypeError(
        `postgresStore: an index of '${schema.name}' would have ${longest} columns, and PostgreSQL takes ${MAX_INDEXED}. Name fewer fields in 'unique' or 'indexes'`,
      )
    }
    const extra = schema.adopted ? 0 : extraColumns(collection).length
    const own = table.columns.length
    if (schema.logged && own > MAX_LOGGED) {
      throw new TypeError(
        `postgresStore: '${schema.name}' has ${own} columns, and PostgreSQL takes ${MAX_LOGGED} of a model with 'changes'. Put fields into objects`,
      )
    }
    const count = own + extra
    if (count <= MAX_COLUMNS) continue
    throw new TypeError(
      `postgresStore: the table of '${schema.name}' would have ${count} columns, ${extra} of them for searches, and PostgreSQL takes ${MAX_COLUMNS}. Put fields into objects, or search fewer`,
    )
  }
}

/** The code of the error of a name that something in the database's schema has. */
export const NAME_TAKEN = '42P07'

/** The error of a name that something else in the database's schema has, with what to do. */
export function takenName(error: unknown, { schema }: Prepared): TypeError {
  const { message } = error as Error
  return new TypeError(
    `postgresStore: ${message}, and '${schema.name}' needs this name for its table or an index. Rename what has it, or give the model another 'collection'`,
    { cause: error },
  )
}

/** What to say of strings in indexes that may become too long for one. */
export function unboundedIn(collections: readonly Prepared[]): string[] {
  return collections.flatMap(({ schema: { name, adopted, unbounded = [] } }) =>
    // Columns and indexes of adopted tables are another program's, with limits of their own.
    adopted || unbounded.length === 0
      ? []
      : `PostgreSQL: a value in an index has about 2,700 bytes, and '${name}' has strings without a limit in 'unique' or 'indexes': ${unbounded.join(', ')}. A longer value is a 413. Give them a max()`,
  )
}

/** Whether a column is one that this store has generated for searches. */
export function isSearchColumn(name: string, { takes, byDefault = '' }: ExistingColumn): boolean {
  return name.startsWith(SEARCH_PREFIX) && takes === 'nothing' && byDefault.includes(`${FOLD}(`)
}

/** The statements that make `column`, which is `existing`, what `wanted` says, for those who operate the app. */
export function typeChange(
  table: Table,
  { columns }: ExistingTable,
  column: Column,
  existing: ExistingColumn,
  wanted: string,
): string {
  const { name, sql, type } = column
  // The next start makes those anew that are still searched.
  const drops = [...columns]
    .filter(([search, one]) => isSearchColumn(search, one))
    .filter(([, { byDefault }]) => namesIn(`(${byDefault})`).includes(name))
    .map(([search]) => `DROP COLUMN ${identifier(search)}, `)
  // A string without a zone is read in that of the session.
  const zone = type === DATE ? `SET TimeZone = 'UTC'; ` : ''
  return `${zone}ALTER TABLE ${table.sql} ${drops.join('')}ALTER COLUMN ${sql} TYPE ${wanted} USING ${cast(sql, existing.type, type)}`
}

const DATE = 'timestamp(3) with time zone'

/** `sql`, a column of the type `from`, as a value of the type `to`; what can't be one ends the statement. */
function cast(sql: string, from: string, to: string): string {
  // As the app has shown it.
  const iso = `to_char(${sql} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
  const value = from === DATE ? iso : sql
  // A string stays one, for `convert`.
  if (to === 'jsonb') return `to_jsonb(${value})`
  if (to === 'text' && from !== 'jsonb') return `${value}::text`
  const text = from === 'jsonb' ? `(${sql} #>> '{}')` : sql
  // PostgreSQL would take words such as 'yesterday' for dates.
  if (to === DATE && (from === 'text' || from === 'jsonb')) {
    return `CASE WHEN ${text} ~ '^[0-9]' THEN ${text} ELSE 'no date: ' || ${text} END::${to}`
  }
  // PostgreSQL would round a number in silence.
  if (from === 'double precision' && to === 'bigint') {
    return `CASE WHEN ${sql} = trunc(${sql}) THEN ${sql}::bigint ELSE ${sql}::text::bigint END`
  }
  return `${text}::${to}`
}
