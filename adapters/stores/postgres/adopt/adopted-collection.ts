/**
 * A collection in a table of another program, whose columns are looked up first.
 *
 * @module
 */

import type { Collection, CollectionSchema } from '../../../../src/ports/store.ts'
import type { Connection } from '../connection/connection.ts'
import { type Table, tableSql } from '../layout/columns.ts'
import { portError } from '../layout/errors.ts'
import { existingTable } from '../schema/catalog.ts'
import { adoptedTable } from './adopt.ts'

/** What an adopted collection is opened with. */
export interface Adopting {
  readonly connection: Connection
  readonly space: string
  opened(schema: CollectionSchema, table: Table): Collection
}

/** A table, and the SQL of the key that a new row of it gets. */
interface Adopted {
  readonly collection: Collection
  readonly newKey: string | undefined
}

/** The collection of a schema with `adopted`. */
export function adoptedCollection(
  schema: CollectionSchema,
  { connection, space, opened }: Adopting,
): Collection {
  const sql = tableSql(space, schema.adopted?.name ?? schema.name)
  let looking: Promise<Adopted> | undefined

  async function look(): Promise<Adopted> {
    const existing = await existingTable(connection, sql)
    const table = adoptedTable(schema, space, existing)
    const newKey = existing?.columns.get(table.columns[0]?.name ?? '')?.byDefault
    return { collection: opened(schema, table), newKey }
  }

  function there(): Promise<Adopted> {
    looking ??= look().catch((error: unknown) => {
      looking = undefined
      throw portError(error)
    })
    return looking
  }

  async function open(): Promise<Collection> {
    return (await there()).collection
  }

  async function newId(): Promise<string | undefined> {
    const { newKey } = await there()
    if (newKey === undefined) {
      if (schema.idType !== 'integer') return undefined
      throw new TypeError(`${sql} has no default for its key, so records cannot be created`)
    }
    const statement = { sql: `SELECT ${newKey}`, values: [] }
    const { rows } = await connection.run(statement).catch((error: unknown) => {
      throw portError(error)
    })
    return String(rows[0]?.[0])
  }

  return {
    seeksRecords: true,
    find: async (read) => (await open()).find(read),
    findJson: async (read) => (await open()).findJson?.(read) ?? [],
    count: async (filter, hints) => (await open()).count(filter, hints),
    aggregate: async (read) => (await open()).aggregate?.(read) ?? [],
    estimate: async () => (await open()).estimate(),
    newId,
    insert: async (record) => (await open()).insert(record),
    update: async (filter, change, options) => (await open()).update(filter, change, options),
    updateMany: async (filter, change) => (await open()).updateMany(filter, change),
    delete: async (filter, options) => (await open()).delete(filter, options),
  }
}
