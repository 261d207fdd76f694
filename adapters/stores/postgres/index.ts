/**
 * The PostgreSQL store: real tables with real columns.
 *
 * @module
 */

import type { Options, Sql } from 'postgres'
import {
  checkOptions,
  each,
  flag,
  natural,
  type Rule,
  text,
  whatever,
} from '../../../src/model/option-rules.ts'
import type { Collection, CollectionSchema, Store } from '../../../src/ports/store/store.ts'
import { startedOnce } from '../../../src/ports/values/once.ts'
import { adoptedTable } from './adopt/adopt.ts'
import { Log } from './changes/log.ts'
import { BriefConnections, Connection } from './connection/connection.ts'
import { type Table, tableOf, tableSql } from './layout/columns.ts'
import { ported } from './layout/errors.ts'
import { heldIn } from './layout/held.ts'
import { literal } from './layout/sql.ts'
import { misfitsIn, prepareTables } from './prepare.ts'
import { existingTable, surveyed } from './schema/catalog.ts'
import { dropLeftOvers } from './schema/obsolete-indexes.ts'
import type { Prepared } from './schema/schema.ts'
import { openCollection } from './statements/collection.ts'
import { stepWriter } from './statements/transactions.ts'

/** Where the database is: set `url` or `client`. */
export interface PostgresStoreOptions {
  /**
   * A `postgres://` address. It may name several hosts, separated by commas: the store uses the one that takes writes. It
   * connects on the first operation.
   */
  readonly url?: string
  /** The database's schema that holds the tables; created if it does not exist. Default `public`. */
  readonly schema?: string
  /** The most connections. Default 10. */
  readonly max?: number
  /** Encryption, as in postgres.js: `'require'`, `'verify-full'`, or options of `tls.connect`. Default: as the address says. */
  readonly ssl?: Options<Record<string, never>>['ssl']
  /** Whether statements are prepared on the server. Set it to false behind a pooler that cannot keep them. Default true. */
  readonly prepare?: boolean
  /**
   * Whether connections are kept for later calls. Set it to false on Workers without a Durable Object, where a socket belongs
   * to the request that opened it: then each call opens a connection, which Hyperdrive makes cheap. Default true.
   */
  readonly keepConnections?: boolean
  /** A postgres.js client of your app, used instead of `url`. Closing the store does not close it. */
  readonly client?: Sql
}

/**
 * A store in a PostgreSQL database of version 14 or later, with UTF-8. A model becomes a table with a column for each
 * field. If the database cannot be reached, calls reject with `StoreUnavailable` within five seconds; the store
 * reconnects by itself.
 */
export function postgresStore(options: PostgresStoreOptions): Store {
  checkOptions({ ...options }, RULES, 'postgresStore')
  const { schema: space = 'public', max = 10, prepare = true, url, ssl, client } = { ...options }
  const { keepConnections = true } = { ...options }
  const Kind = keepConnections ? Connection : BriefConnections
  const connection = new Kind({ url, ssl, client, max, prepare })
  const log = new Log(connection, space)
  /** The tables that `prepare` has brought to their columns. */
  const prepared = new Set<string>()

  const opened = (schema: CollectionSchema, table: Table): Collection =>
    openCollection(schema, table, connection)

  /** A collection in a table of the store's own. */
  function own(schema: CollectionSchema): Collection {
    const table = tableOf(schema, space)
    const key = columnsOf(table)
    const known = opened(schema, table)
    const survey = async (): Promise<Collection | undefined> => {
      const existing = await ported(existingTable(connection, table.sql))
      return existing && opened(schema, surveyed(table, existing))
    }
    const there = async (isWhole = false) =>
      prepared.has(key) && !isWhole ? known : await survey()
    return {
      ...known,
      find: async (read) => (await (await there(read.hints?.isWhole))?.find(read)) ?? [],
      count: async (filter, hints) => (await (await there())?.count(filter, hints)) ?? 0,
    }
  }

  async function tableFor(schema: CollectionSchema): Promise<Table> {
    if (!schema.adopted) return tableOf(schema, space)
    const sql = tableSql(space, schema.adopted.name)
    return adoptedTable(schema, space, await existingTable(connection, sql))
  }

  async function adopted(schema: CollectionSchema): Promise<Adopted> {
    const table = await ported(tableFor(schema))
    return { ...opened(schema, table), table }
  }

  function collectionsOf(schemas: readonly CollectionSchema[]): Prepared[] {
    return schemas.map((schema) => ({ connection, schema, table: tableOf(schema, space), space }))
  }

  return {
    name: 'postgres',
    rawRegex: false,
    guards: true,
    changes: log,
    collection: (schema) =>
      schema.adopted ? adoptedCollection(schema, connection, () => adopted(schema)) : own(schema),
    async prepare(schemas, warn = () => {}) {
      const collections = collectionsOf(schemas)
      await ported(prepareTables({ connection, space }, collections, warn))
      for (const { table } of collections) prepared.add(columnsOf(table))
      if (schemas.some(({ logged }) => logged)) await ported(log.prepared(schemas))
    },
    misfits: (schemas) => ported(misfitsIn(collectionsOf(schemas))),
    dropLeftOvers: (schemas) => ported(dropLeftOvers(collectionsOf(schemas))),
    write: stepWriter(connection, log, tableFor),
    copying: {
      place: () => ported(placeOf(connection, space)),
      held: (schema) => (schema.adopted ? undefined : heldIn(tableOf(schema, space))),
    },
    close: () => connection.close(),
  }
}

const RULES: Readonly<Record<keyof PostgresStoreOptions, Rule>> = {
  ...each(text, 'url', 'schema'),
  ...each(flag, 'prepare', 'keepConnections'),
  ...each(whatever, 'ssl', 'client'),
  max: natural,
}

/** The server's process by the moment when it started, the database and the schema, whatever name leads to them. */
async function placeOf(connection: Connection, space: string): Promise<string> {
  const sql = `SELECT concat_ws(' ', extract(epoch FROM pg_postmaster_start_time()), oid, ${literal(space)})
    FROM pg_database WHERE datname = current_database()`
  const [row] = await connection.rows(sql)
  return JSON.stringify(row)
}

/** A table's name and columns, to tell the versions of a model apart. */
function columnsOf({ sql, columns }: Table): string {
  return JSON.stringify([sql, ...columns.map(({ name, type, absence }) => [name, type, absence])])
}

type Adopted = Collection & { readonly table: Table }

/** The collection of a schema with `adopted`. */
function adoptedCollection(
  { idType }: CollectionSchema,
  connection: Connection,
  look: () => Promise<Adopted>,
): Collection {
  const open = startedOnce(look)

  async function newId(): Promise<string | undefined> {
    const { sql, columns } = (await open()).table
    const newKey = columns[0]?.byDefault
    if (newKey === undefined) {
      if (idType !== 'integer') return undefined
      throw new TypeError(`${sql} has no default for its key, so records cannot be created`)
    }
    const [row] = await ported(connection.rows(`SELECT ${newKey}`))
    return String(row?.[0])
  }

  return {
    seeksRecords: true,
    numericIds: true,
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
