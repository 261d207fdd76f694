/**
 * The PostgreSQL store: real tables with real columns.
 *
 * @module
 */

import type { Options, Sql } from 'postgres'
import type { CollectionSchema, Store } from '../../../src/ports/store.ts'
import { openCollection } from './collection.ts'
import { type Table, tableOf } from './columns.ts'
import { Connection } from './connection.ts'
import { portError } from './errors.ts'
import { prepareTables } from './prepare.ts'

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
  /** A postgres.js client of your app, used instead of `url`. Closing the store does not close it. */
  readonly client?: Sql
}

/**
 * A store in a PostgreSQL database of version 14 or later, with UTF-8. A model becomes a table with a column for each
 * field. If the database cannot be reached, calls reject with `StoreUnavailable` within five seconds; the store
 * reconnects by itself.
 */
export function postgresStore(options: PostgresStoreOptions): Store {
  const { schema: space = 'public', max = 10, prepare = true, url, ssl, client } = options
  const connection = new Connection({ url, ssl, client, max, prepare })
  const tables = new Map<CollectionSchema, Table>()

  function table(schema: CollectionSchema): Table {
    const known = tables.get(schema) ?? tableOf(schema, space)
    tables.set(schema, known)
    return known
  }

  async function ported<T>(
    schema: CollectionSchema | undefined,
    work: () => Promise<T>,
  ): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw portError(error, schema)
    }
  }

  return {
    name: 'postgres',
    rawRegex: false,
    collection: (schema) =>
      openCollection(schema, table(schema), {
        read: (statement, hints) => ported(schema, () => connection.read(statement, hints)),
        write: (statement) => ported(schema, () => connection.run(statement)),
      }),
    prepare: (schemas, warn = () => {}) =>
      ported(undefined, () =>
        prepareTables(
          connection,
          schemas.map((schema) => ({ schema, table: table(schema), space })),
          warn,
        ),
      ),
    close: () => connection.close(),
  }
}
