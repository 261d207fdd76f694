/**
 * Keys of adopted tables: their form is declared in the model and made by the database, so both are compared at start-up.
 * A key of another form would be shown, and then refused by every other route.
 *
 * @module
 */

import type { CollectionSchema } from '../../../src/ports/store.ts'
import type { ExistingTable } from './catalog.ts'
import type { Table } from './columns.ts'
import type { Connection } from './connection.ts'

/** Forms of ids, as PostgreSQL and JavaScript match them. */
const UUID = /^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$/
const FORMS: Readonly<Record<string, RegExp>> = { objectId: /^[0-9A-Fa-f]{24}$/, uuid: UUID }

/** Throws a `TypeError` that says which `id` fits, if the table has or makes keys of another form than the model's. */
export async function checkKeys(
  connection: Connection,
  schema: CollectionSchema,
  table: Table,
  existing: ExistingTable,
): Promise<void> {
  const form = FORMS[schema.idType]
  const key = existing.columns.get(table.byField.get('_id')?.name ?? '')
  if (form === undefined || !key || key.type === schema.idType) return
  const other =
    (await oneOf(
      connection,
      `SELECT ${table.id}::text FROM ${table.sql} WHERE ${table.id}::text !~ '${form.source}' LIMIT 1`,
    )) ?? (await madeBy(connection, key.type, key.byDefault))
  if (other === undefined || form.test(other)) return
  throw new TypeError(
    `postgresStore: ${table.sql} has keys such as '${other.slice(0, 40)}' in ${table.id}, and '${schema.name}' declares id: '${schema.idType}'. Write id: '${fitting(key.type, other)}' in its defineModel()`,
  )
}

/** A key as the database makes it, if it does. */
async function madeBy(
  connection: Connection,
  type: string,
  byDefault: string | undefined,
): Promise<string | undefined> {
  if (/int/.test(type)) return '1'
  // A sequence would lose a number.
  if (byDefault === undefined || byDefault.includes('nextval')) return undefined
  return oneOf(connection, `SELECT (${byDefault})::text`)
}

async function oneOf(connection: Connection, sql: string): Promise<string | undefined> {
  const { rows } = await connection.run({ sql, values: [] })
  const key = rows[0]?.[0]
  return typeof key === 'string' ? key : undefined
}

function fitting(type: string, key: string): string {
  if (/int/.test(type)) return 'integer'
  return UUID.test(key) ? 'uuid' : 'text'
}
