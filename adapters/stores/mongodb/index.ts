/**
 * The MongoDB store: for several instances of an application, and for collections that Mongoose wrote. Take SQLite
 * while one machine is enough.
 *
 * @module
 */

import { type MongoClient, ReadConcern } from 'mongodb'
import { type CollectionSchema, type Store, StoreUnavailable } from '../../../src/ports/store.ts'
import { connect, refuseWeaker } from './client.ts'
import { openCollection } from './collection.ts'
import { portError } from './errors.ts'
import { prepareCollection } from './schema.ts'

/** Where the database is: `url` or `client`. */
export interface MongoStoreOptions {
  /** A `mongodb://` or `mongodb+srv://` address. Nothing is connected before the first operation. */
  readonly url?: string
  /** A client of the application, used instead of `url`. Closing the store leaves it open. */
  readonly client?: MongoClient
  /** The database's name. Default: the one in the address, else `test`. */
  readonly database?: string
  /**
   * Whether `prepare` makes indexes for what routers search, over a member `_grams` that writes keep in each
   * document. Only where nothing but stores with this option updates the searched fields: a text that something
   * else has changed may not be found. Default: false; every search looks at every document.
   */
  readonly searchIndexes?: boolean
}

/**
 * A store over a MongoDB replica set or sharded cluster. A write is answered when a majority of the members has it in
 * its journal, reads are of the primary, and addresses that ask for less are refused with a `TypeError`. A database
 * that cannot be reached rejects with `StoreUnavailable` within five seconds, and is found again by itself.
 *
 * `prepare` replaces a unique index on the same fields that lets missing values clash, as Mongoose makes it.
 */
export function mongoStore(options: MongoStoreOptions): Store {
  const client = options.client ?? connect(options.url)
  refuseWeaker(client)
  const database = client.db(options.database, {
    writeConcern: { w: 'majority', journal: true },
    readConcern: new ReadConcern('majority'),
    readPreference: 'primary',
    ignoreUndefined: true,
  })

  // Routers add to what is searched until the app starts.
  const indexedOf = (schema: CollectionSchema) => (options.searchIndexes ? schema.searchable : [])
  let closed: Promise<void> | undefined
  const underWay = new Set<Promise<unknown>>()

  let isConnected = false
  // Explicitly: after a first connection that failed the driver would not try another by itself.
  async function connected(): Promise<void> {
    await client.connect()
    isConnected = true
  }

  async function run<T>(schema: CollectionSchema | undefined, work: () => Promise<T>): Promise<T> {
    if (closed) throw new StoreUnavailable('the store has been closed')
    const working = isConnected ? work() : connected().then(work)
    underWay.add(working)
    try {
      return await working
    } catch (error) {
      throw portError(error, schema)
    } finally {
      underWay.delete(working)
    }
  }

  async function close(): Promise<void> {
    await Promise.allSettled(underWay)
    if (client !== options.client) await client.close()
  }

  return {
    name: 'mongodb',
    rawRegex: true,
    exactOrder: true,
    collection: (schema) =>
      openCollection(
        schema,
        database.collection(schema.name),
        () => indexedOf(schema),
        (work) => run(schema, work),
      ),
    async prepare(schemas) {
      await run(undefined, () => database.command({ ping: 1 }))
      for (const schema of schemas) {
        await run(schema, () =>
          prepareCollection(database.collection(schema.name), schema, indexedOf(schema)),
        )
      }
    },
    close() {
      closed ??= close()
      return closed
    },
  }
}
