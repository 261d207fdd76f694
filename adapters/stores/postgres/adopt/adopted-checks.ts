/**
 * What an adopted table must keep: keys in the form that the model declares (one of another form would be shown, and then
 * refused by every other route), and what the model excludes, because other programs write to it too.
 */

import type { Exclusion } from '../../../../src/ports/store/exclusion.ts'
import type { IdType } from '../../../../src/ports/store/shape.ts'
import type { Connection } from '../connection/connection.ts'
import type { Column, Table } from '../layout/columns.ts'
import { fieldsIn } from '../layout/indexed-fields.ts'
import type { Result } from '../layout/rows.ts'
import { literal } from '../layout/sql.ts'
import type { ExistingColumn, ExistingTable } from '../schema/catalog.ts'
import type { Prepared } from '../schema/schema.ts'

/** A collection in a table of another program, as the database has it. */
export interface Adopted extends Prepared {
  readonly existing: ExistingTable
}

/** The forms in which routes look for ids, as PostgreSQL and JavaScript match them. */
const FORMS = {
  objectId: { pattern: /^[0-9a-f]{24}$/, told: '24 hexadecimal digits in lower case' },
  uuid: { pattern: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, told: 'a UUID in lower case' },
  integer: { pattern: /^(0|-?[1-9][0-9]{0,18})$/, told: 'an integer' },
} as const

const INTEGERS: ReadonlySet<string> = new Set(['smallint', 'integer', 'bigint'])

const MAKING_MS = 5000

/** Says which `id` fits, if the table has or makes keys of another form than the model's. */
export async function keysOfAnotherForm(adopted: Adopted): Promise<string[]> {
  const { connection, schema, table, existing } = adopted
  const { idType } = schema
  const key = existing.columns.get(table.byField.get('_id')?.name ?? '')
  if (idType === 'text' || !key) return []
  // The type of the column alone may give keys their form.
  if (idType === 'integer' ? INTEGERS.has(key.baseType) : key.baseType === idType) return []
  const { pattern, told } = FORMS[idType]
  const sql = `SELECT ${table.id}::text FROM ${table.sql} WHERE ${table.id}::text !~ '${pattern.source}' LIMIT 1`
  const [row] = await connection.rows(sql)
  const other = row?.[0] ?? (await madeBy(connection, key))
  if (other === undefined || pattern.test(other)) return []
  return [
    `${table.sql} has keys such as '${other.slice(0, 40)}' in ${table.id}, and '${schema.name}' declares id: '${idType}', which is ${told}. Write id: '${fitting(key, other)}' in its defineModel()`,
  ]
}

/** A key as the database makes it, if it does. */
async function madeBy(
  connection: Connection,
  { baseType, byDefault }: ExistingColumn,
): Promise<string | undefined> {
  if (INTEGERS.has(baseType)) return '1'
  if (byDefault === undefined) return undefined
  const sql = `SELECT (${byDefault.replaceAll(DRAWN, '1::bigint')})::text`
  // It may only read, so that a default that draws from a sequence in some other way fails and loses no number.
  const made = connection.read({ sql, values: [] }, { timeLimitMs: MAKING_MS })
  const { rows } = await made.catch((): Pick<Result, 'rows'> => ({ rows: [] }))
  return rows[0]?.[0] ?? undefined
}

/** A number of a sequence, as PostgreSQL writes the expression of a default. */
const DRAWN = /nextval\('(?:[^']|'')*'::regclass\)/g

function fitting(column: ExistingColumn, key: string): IdType {
  if (column.baseType === 'numeric' || INTEGERS.has(column.baseType)) {
    return FORMS.integer.pattern.test(key) ? 'integer' : 'text'
  }
  return FORMS.uuid.pattern.test(key) ? 'uuid' : 'text'
}

/** The types of ranges, by the type of their ends; others are compared as `numeric`. */
const RANGES: Readonly<Record<string, string>> = {
  'timestamp with time zone': 'tstzrange',
  'timestamp without time zone': 'tsrange',
  date: 'daterange',
  smallint: 'int4range',
  integer: 'int4range',
  bigint: 'int8range',
}

/** What to say, with the SQL to run, if the table has no constraint that keeps what the model excludes. */
export async function missingExclusions(adopted: Adopted): Promise<string[]> {
  const { connection, schema, table } = adopted
  const { exclude = [] } = schema
  if (exclude.length === 0) return []
  const sql = `SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'x' AND conrelid = to_regclass(${literal(table.sql)})`
  const rows = await connection.rows(sql)
  const missing = exclude.filter((one) => !rows.some(([text]) => keeps(text ?? '', one, table)))
  const [first] = missing
  if (!first) return []
  const gist = missing.some(({ equal }) => equal.length > 0)
  const commands = missing.map((one) => constraintOf(one, adopted))
  return [
    `${table.sql} takes records that overlap in ${first.range.join(', ')}, which 'exclude' forbids. Run: ${[...(gist ? ['CREATE EXTENSION IF NOT EXISTS btree_gist'] : []), ...commands].join('; ')}`,
  ]
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
