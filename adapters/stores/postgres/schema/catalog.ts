/** What the database knows of tables and of itself. */

import type { Connection, Place } from '../connection/connection.ts'
import {
  type Column,
  NULLS,
  ownColumn,
  SEARCH_PREFIX,
  SHAPES,
  type Table,
} from '../layout/columns.ts'
import { arrayText, literal } from '../layout/sql.ts'
import { patiently } from './locks.ts'

export interface ExistingColumn extends Pick<Column, 'takes' | 'byDefault'> {
  readonly type: string
  readonly isNotNull: boolean
  /** Its type, or that which a domain is over. */
  readonly baseType: string
  readonly collation?: string
  /** Whether the collation takes some strings for equal that differ. */
  readonly isLoose: boolean
  /** The sequence of an identity that the role may not draw from, as SQL. */
  readonly deniedSequence?: string
  /** Whether an expression index can hold its values as strings. */
  readonly isTextIndexable: boolean
}

export interface ExistingIndex {
  readonly isUnique: boolean
  /** False while it is built, and if its build failed. */
  readonly isValid: boolean
  readonly isBuilding: boolean
  readonly isOwn: boolean
  readonly isConstraint: boolean
  readonly isPrimary: boolean
  readonly definition: string
  /** Whether it holds every row, by columns alone. */
  readonly isWhole: boolean
  /** The columns that it is on, in its order; without those that it only includes. */
  readonly columns: readonly string[]
}

export interface ExistingTable {
  /** Such as `table`, `view` or `partitioned table`. */
  readonly kind: string
  readonly columns: ReadonlyMap<string, ExistingColumn>
  readonly indexes: ReadonlyMap<string, ExistingIndex>
  /** The columns of each check constraint. */
  readonly checks: ReadonlyMap<string, readonly string[]>
}

/** The comment on the indexes that this store created. No other is ever dropped. */
export const OWN = 'made by fieldgate'

export async function existingTable(
  connection: Connection,
  table: string,
): Promise<ExistingTable | undefined> {
  return (await existingTables(connection, [table])).get(table)
}

/** What the database knows of those of `tables` that are there, in one statement however many they are. */
export async function existingTables(
  connection: Connection,
  tables: readonly string[],
): Promise<Map<string, ExistingTable>> {
  const rows = await patiently(() => connection.rows(TABLES, arrayText(tables)))
  const found = rows.map(([table, json]): [string, ExistingTable] => {
    const { kind, columns, indexes, checks } = JSON.parse(String(json))
    const maps = { columns: new Map(columns), indexes: new Map(indexes), checks: new Map(checks) }
    return [String(table), { kind, ...maps } as ExistingTable]
  })
  return new Map(found)
}

const TABLES = `SELECT wanted, json_build_object(
    'kind', CASE relkind WHEN 'p' THEN 'partitioned table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view'
      WHEN 'f' THEN 'foreign table' ELSE 'table' END,
    'columns', (SELECT coalesce(json_agg(json_build_array(attname, json_strip_nulls(json_build_object(
        'type', format_type(atttypid, atttypmod),
        'baseType', (WITH RECURSIVE known AS (
          SELECT atttypid AS type, atttypmod AS mod
          UNION ALL SELECT typbasetype, typtypmod FROM known JOIN pg_type ON oid = type WHERE typtype = 'd')
          SELECT format_type(type, mod) FROM known JOIN pg_type ON oid = type WHERE typtype <> 'd'),
        'isNotNull', attnotnull,
        'collation', collname,
        'isLoose', coalesce(NOT collisdeterministic, false),
        'isTextIndexable', (SELECT provolatile = 'i' FROM pg_type
          JOIN pg_proc ON pg_proc.oid = typoutput WHERE pg_type.oid = atttypid),
        'takes', CASE WHEN attgenerated <> '' THEN 'nothing' WHEN attidentity = 'a' THEN 'inserts' END,
        'deniedSequence', CASE WHEN attidentity <> ''
            AND NOT has_sequence_privilege(pg_get_serial_sequence(wanted, attname), 'USAGE, UPDATE')
          THEN pg_get_serial_sequence(wanted, attname) END,
        'byDefault', CASE WHEN attidentity = '' THEN coalesce(pg_get_expr(adbin, adrelid),
            (SELECT pg_get_expr(typdefaultbin, 0) FROM pg_type WHERE oid = atttypid))
          ELSE format('nextval(%L)', pg_get_serial_sequence(wanted, attname)) END))) ORDER BY attnum), '[]')
      FROM pg_attribute LEFT JOIN pg_collation ON pg_collation.oid = attcollation
        LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
      WHERE attrelid = found.oid AND attnum > 0 AND NOT attisdropped),
    'indexes', (SELECT coalesce(json_agg(json_build_array(own.relname, json_build_object(
        'isUnique', indisunique,
        'isValid', indisvalid,
        'isBuilding', indexrelid IN (SELECT index_relid FROM pg_stat_progress_create_index),
        'isOwn', coalesce(obj_description(indexrelid, 'pg_class') = ${literal(OWN)}, false),
        'isConstraint', EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid AND conrelid = indrelid),
        'isPrimary', indisprimary,
        'definition', pg_get_indexdef(indexrelid),
        'isWhole', indpred IS NULL AND indexprs IS NULL,
        'columns', coalesce((SELECT json_agg(attname ORDER BY array_position(indkey::int2[], attnum)) FROM pg_attribute
          WHERE attrelid = indrelid AND attnum = ANY ((indkey::int2[])[0:indnkeyatts - 1])), '[]'))) ORDER BY indexrelid), '[]')
      FROM pg_index JOIN pg_class AS own ON own.oid = indexrelid WHERE indrelid = found.oid),
    'checks', (SELECT coalesce(json_agg(json_build_array(conname, ARRAY(SELECT attname FROM pg_attribute
        WHERE attrelid = conrelid AND attnum = ANY (conkey)))), '[]')
      FROM pg_constraint WHERE conrelid = found.oid AND contype = 'c'))
  FROM unnest($1::text::text[]) AS wanted JOIN pg_class AS found ON found.oid = to_regclass(wanted)`

/** The schema that holds the operators of `pg_trgm`, as SQL names it; undefined if the extension is not there. */
export async function trigramSpace(connection: Connection): Promise<string | undefined> {
  const sql = `SELECT quote_ident(nspname) FROM pg_opclass JOIN pg_namespace ON pg_namespace.oid = opcnamespace
    WHERE opcname = 'gin_trgm_ops'`
  const [row] = await connection.rows(sql)
  return row?.[0] ?? undefined
}

export async function hasFunction({ connection, space }: Place, name: string): Promise<boolean> {
  const sql = `SELECT 1 FROM pg_proc JOIN pg_namespace ON pg_namespace.oid = pronamespace
    WHERE ARRAY[nspname, proname]::text[] = $1::text::text[]`
  return (await connection.rows(sql, arrayText([space, name]))).length > 0
}

/** `table` with the columns that exist: others are NULL, and those that no field has come too. */
export function surveyed(table: Table, { columns }: ExistingTable): Table {
  const declared = table.columns.map((column) => actual(column, columns.get(column.name)))
  const others = [...columns]
    .filter(
      ([name]) => !table.byField.has(name) && name !== NULLS && !name.startsWith(SEARCH_PREFIX),
    )
    .map(([name, existing]) => actual(ownColumn(name, SHAPES.text, 'missing'), existing))
  const all = [...declared, ...others].map((column) =>
    column.absence === 'either' && !columns.has(NULLS)
      ? { ...column, absence: 'missing' as const }
      : column,
  )
  return {
    ...table,
    columns: all,
    byField: new Map(all.map((column) => [column.field, column])),
    hasNulls: columns.has(NULLS),
  }
}

/** `column` with the type that it has in truth; of one that fieldgate doesn't create, the values are read as strings. */
function actual(column: Column, existing: ExistingColumn | undefined): Column {
  const { field, type, absence } = column
  if (existing?.type === type) return column
  const known = existing && Object.hasOwn(SHAPES, existing.type)
  if (known) return ownColumn(field, SHAPES[existing.type as keyof typeof SHAPES], absence)
  const value = existing ? `${column.sql}::text` : `NULL::${type}`
  const text = existing ? ownColumn(field, SHAPES.text, absence) : column
  return { ...text, value, ordered: value }
}
