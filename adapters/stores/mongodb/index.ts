/**
 * The MongoDB store: for several instances of an app, and for collections that Mongoose wrote. Use SQLite while one
 * machine is enough.
 *
 * @module
 */

import { type Db, type MongoClient, ReadConcern } from 'mongodb'
import { type CollectionSchema, type Store, StoreUnavailable } from '../../../src/ports/store.ts'
import { stepWriter } from './calls/transactions.ts'
import { openCollection } from './collection.ts'
import { connect, refuseOther, refuseWeaker } from './connection/client.ts'
import { portError } from './connection/errors.ts'
import { exactCollection } from './copying/exact.ts'
import { foreignValues } from './copying/foreign-values.ts'
import { watchWrites } from './copying/watch.ts'
import { dropLeftOvers } from './schema/obsolete-indexes.ts'
import { prepareCollection, surroundingsOf } from './schema/schema.ts'

/** Where the database is: set `url` or `client`. */
export interface MongoStoreOptions {
  /** A `mongodb://` or `mongodb+srv://` address. It connects on the first operation. */
  readonly url?: string
  /** A client of your app, used instead of `url`. Closing the store does not close it. */
  readonly client?: MongoClient
  /** The database's name. Default: the one in the address, else `test`. */
  readonly database?: string
  /**
   * Whether `prepare` creates indexes for the fields that routers search. Each document then keeps its substrings in a
   * member `_grams`. Set it only if nothing but stores with this option updates the searched fields: a search may miss
   * a string that another program has changed. Default false: every search scans every document.
   */
  readonly searchIndexes?: boolean
}

/**
 * A store in a MongoDB replica set or sharded cluster. A write resolves when a majority of the members has it in its
 * journal. Reads go to the primary. Throws a `TypeError` for an address that asks for weaker guarantees. If the
 * database cannot be reached, calls reject with `StoreUnavailable` within five seconds; the store reconnects by itself.
 *
 * `prepare` drops, replaces and weakens no index that another program made. It adds those that the models ask for, and
 * warns of others.
 */
export function mongoStore(options: MongoStoreOptions): Store {
  const { client: own, url, database: name, searchIndexes } = { ...options }
  if (own !== undefined) refuseOther(own)
  const client = own ?? connect(url)
  refuseWeaker(client)
  const database = client.db(name, {
    writeConcern: { w: 'majority', journal: true },
    readConcern: new ReadConcern('majority'),
    readPreference: 'primary',
    ignoreUndefined: true,
  })

  // Routers add searchable paths until the app starts.
  const indexedOf = (schema: CollectionSchema) => (searchIndexes ? schema.searchable : undefined)
  let closed: Promise<void> | undefined
  const underWay = new Set<Promise<unknown>>()

  let isConnected = false
  // Explicitly: after a failed first connection the driver would not try another by itself.
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
    if (client !== own) await client.close()
  }

  let sharded: boolean | undefined
  async function isSharded(): Promise<boolean> {
    try {
      sharded ??= (await database.command({ hello: 1 })).msg === 'isdbgrid'
    } catch {
      // What is right on shards is right everywhere.
      return true
    }
    return sharded
  }

  const write = stepWriter(client, database, indexedOf)

  return {
    name: 'mongodb',
    rawRegex: true,
    collates: true,
    exactOrder: true,
    collection: (schema) =>
      openCollection(schema, { database, indexedOf, isSharded }, (work) => run(schema, work)),
    write: (steps) => run(undefined, () => write(steps)),
    copying: {
      watch: (names) => run(undefined, () => watchWrites(client, database, names)),
      foreign: (schema) =>
        foreignValues(database.collection(schema.name), schema, (work) => run(schema, work)),
      place: () => run(undefined, () => placeOf(database)),
      exact: (schema) =>
        exactCollection(database.collection(schema.name), (work) => run(schema, work)),
    },
    surroundings: (schema) => run(schema, () => surroundingsOf(database, schema)),
    async prepare(schemas, warn = () => {}) {
      await run(undefined, () => database.command({ ping: 1 }))
      for (const schema of schemas) {
        await run(schema, () =>
          prepareCollection(database.collection(schema.name), schema, indexedOf(schema), warn),
        )
      }
    },
    dropLeftOvers: (schemas) => run(undefined, () => dropLeftOvers(database, schemas, indexedOf)),
    close() {
      closed ??= close()
      return closed
    },
  }
}

/** The replica set, else the process of the server, whatever names lead to it, and the database. */
async function placeOf(database: Db): Promise<string> {
  const { setName, hosts, topologyVersion } = await database.command({ hello: 1 })
  const server = setName ? [setName, hosts] : [String(topologyVersion?.processId)]
  return JSON.stringify([...server, database.databaseName])
}
