/**
 * Exclusion constraints of adopted tables: other programs write to them too, so that the database must keep what the model
 * says.
 *
 * @module
 */

import type { Exclusion } from '../../../../src/ports/exclusion.ts'
import type { Column, Table } from '../layout/columns.ts'
import { fieldsIn } from '../layout/indexed-fields.ts'
import { literal } from '../layout/sql.ts'
import type { Adopted } from './adopted-keys.ts'

/** The types of ranges, by the type of their ends; others are compared as `numeric`. */
const RANGES: Readonly<Record<string, string>> = {
  'timestamp with time zone': 'tstzrange',
  'timestamp without time zone': 'tsrange',
  date: 'daterange',
  smallint: 'int4range',
  integer: 'int4range',
  bigint: 'int8range',
}

/** Throws a `TypeError` with the SQL to run if the table has no constraint that keeps what the model excludes. */
export async function checkExclusions(adopted: Adopted): Promise<void> {
  const { connection, schema, table } = adopted
  const { exclude = [] } = schema
  if (exclude.length === 0) return
  const { rows } = await connection.run({
    sql: `SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'x' AND conrelid = ${literal(table.sql)}::regclass`,
    values: [],
  })
  const definitions = rows.map(([definition]) => String(definition))
  const missing = exclude.filter((one) => !definitions.some((text) => keeps(text, one, table)))
  const [first] = missing
  if (!first) return
  const gist = missing.some(({ equal }) => equal.length > 0)
  const commands = missing.map((one) => constraintOf(one, adopted))
  throw new TypeError(
    `postgresStore: ${table.sql} takes records that overlap in ${first.range.join(', ')}, which 'exclude' forbids. Run: ${[...(gist ? ['CREATE EXTENSION IF NOT EXISTS btree_gist'] : []), ...commands].join('; ')}`,
  )
}

/** Whether a constraint is on the same columns, and for no fewer rows. */
function keeps(definition: string, { equal, range, where }: Exclusion, table: Table): boolean {
  const [key = '', condition = ''] = definition.split(' WHERE ', 2)
  const fields = new Set(fieldsIn(key, table.columns))
  const isSame = [...equal, ...range].every((field) => fields.delete(field)) && fields.size === 0
  const narrowed = fieldsIn(condition, table.columns)
  return isSame && key.includes('&&') && narrowed.every((field) => Object.hasOwn(where, field))
}

function constraintOf({ equal, range, where }: Exclusion, { table, existing }: Adopted): string {
  const columnOf = (field: string) => table.byField.get(field) as Column
  const ends = range.map(columnOf)
  const type = RANGES[existing.columns.get(ends[0]?.name ?? '')?.baseType ?? '']
  const values = ends.map(({ sql }) => (type ? sql : `${sql}::numeric`)).join(', ')
  const keys = equal.map((field) => `${columnOf(field).sql} WITH =`)
  const conditions = Object.entries(where).map(([field, list]) => {
    const values = list.map((one) => (typeof one === 'number' ? one : literal(String(one))))
    return `${columnOf(field).sql} IN (${values.join(', ')})`
  })
  const key = [...keys, `${type ?? 'numrange'}(${values}) WITH &&`].join(', ')
  const rows = conditions.length > 0 ? ` WHERE (${conditions.join(' AND ')})` : ''
  return `ALTER TABLE ${table.sql} ADD EXCLUDE USING gist (${key})${rows}`
}
