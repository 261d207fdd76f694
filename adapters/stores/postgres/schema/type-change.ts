/** The SQL that gives a column another type, for those who operate the app: fieldgate changes no type by itself. */

import type { Column, Table } from '../layout/columns.ts'
import { namesIn } from '../layout/indexed-fields.ts'
import { identifier } from '../layout/sql.ts'
import type { ExistingColumn, ExistingTable } from './catalog.ts'
import { isSearchColumn } from './obsolete-indexes.ts'

/** The statements that make `column`, which is `existing`, what `wanted` says. */
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
