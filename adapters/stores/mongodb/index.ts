/**
 * The MongoDB store: for several instances of an app, and for collections that Mongoose wrote. Use SQLite while one
 * machine is enough.
 *
 * @module
 */

import { type Db, type Document, Long, type MongoClient, type Collection as Native } from 'mongodb'
import {
  checkOptions,
  each,
  flag,
  type Rule,
  text,
  whatever,
} from '../../../src/model/option-rules.ts'
import type { Collection, CollectionSchema, Store } from '../../../src/ports/store/store.ts'
import { Reads } from './calls/reads.ts'
import { stepWriter } from './calls/transactions.ts'
import { inserter, writesOf } from './calls/writes.ts'
import { Log } from './changes/log.ts'
import { Connection } from './connection/connection.ts'
import { exactCollection } from './copying/exact.ts'
import { foreignValues } from './copying/foreign-values.ts'
import { watchWrites } from './copying/watch.ts'
import { NONE_AS_BYTES } from './documents/bson.ts'
import type { Stored } from './documents/documents.ts'
import { dropLeftOvers, prepareCollection, surroundingsOf } from './schema/schema.ts'

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
  checkOptions({ ...options }, RULES, 'mongoStore')
  const { searchIndexes } = { ...options }
  const connection = new Connection({ ...options })
  const { client, database } = connection
  const storedOf = (schema: CollectionSchema): Stored => ({
    schema,
    native: database.collection(schema.name, NONE_AS_BYTES),
    // Routers add searchable paths until the app starts.
    indexed: () => (searchIndexes ? schema.searchable : undefined),
  })
  const log = new Log(connection)
  const write = stepWriter(database, log, storedOf)
  const run = connection.on()

  return {
    name: 'mongodb',
    rawRegex: true,
    guards: true,
    changes: log,
    collates: true,
    exactOrder: true,
    collection: (schema) => openCollection(storedOf(schema), connection),
    write: (steps) => run(() => write(steps)),
    copying: {
      watch: (names) => run(() => watchWrites(client, database, names)),
      foreign: (schema) => foreignValues(storedOf(schema), connection.on(schema)),
      place: () => run(() => placeOf(database)),
      exact: (schema) => exactCollection(storedOf(schema).native, connection.on(schema)),
    },
    surroundings: (schema) => connection.on(schema)(() => surroundingsOf(database, schema)),
    async prepare(schemas, warn = () => {}) {
      await run(() => connection.greet())
      const prepared = (schema: CollectionSchema) =>
        connection.on(schema)(() => prepareCollection(storedOf(schema), warn))
      for (let at = 0; at < schemas.length; at += MAX_AT_ONCE) {
        await Promise.all(schemas.slice(at, at + MAX_AT_ONCE).map(prepared))
      }
      if (schemas.some(({ logged }) => logged)) await run(() => log.prepared(schemas))
    },
    dropLeftOvers: (schemas) => run(() => dropLeftOvers(schemas.map(storedOf))),
    close: () => connection.close(),
  }
}

const RULES: Readonly<Record<keyof MongoStoreOptions, Rule>> = {
  ...each(text, 'url', 'database'),
  client: whatever,
  searchIndexes: flag,
}

/** How many collections are prepared at the same time: most of it is waiting for the server. */
const MAX_AT_ONCE = 8

/** The replica set, else the process of the server, whatever names lead to it, and the database. */
async function placeOf(database: Db): Promise<string> {
  const { setName, hosts, topologyVersion } = await database.command({ hello: 1 })
  const server = setName ? [setName, hosts] : [String(topologyVersion?.processId)]
  return JSON.stringify([...server, database.databaseName])
}

function openCollection(stored: Stored, connection: Connection): Collection {
  const { schema, native } = stored
  const run = connection.on(schema)
  const reads = new Reads(stored, connection)
  const writes = writesOf(stored)
  const insert = inserter(native)
  const newId = nextInteger(native, connection.database.collection(COUNTERS))
  return {
    numericIds: true,
    ...(schema.idType === 'integer' && { newId: () => run(newId) }),
    find: (read) => run(() => reads.find(read)),
    findJson: (read) => run(() => reads.findJson(read)),
    count: (filter, hints) => run(() => reads.count(filter, hints)),
    aggregate: (read) => run(() => reads.aggregate(read)),
    estimate: () => run(() => native.estimatedDocumentCount()),
    insert: (fields) => run(async () => insert(writes.documentOf(fields))),
    update: (filter, change, options) => run(() => writes.update(filter, change, options)),
    updateMany: (filter, change) => run(() => writes.updateMany(filter, change)),
    delete: (filter, options) => run(() => writes.delete(filter, options)),
  }
}

/** A document for each collection: the last integer that was made for it, so that no two processes make the same. */
const COUNTERS = 'fieldgate_ids'

/**
 * Makes ids that are integers: the next after the greatest one, or after the last one that was made, whatever ids of other
 * types other programs have stored.
 */
function nextInteger(native: Native, counters: Native): () => Promise<string> {
  const [one, _id] = [Long.fromNumber(1), native.collectionName as never]
  return async () => {
    const found = await native.findOne(NUMBERED, { sort: { _id: -1 }, projection: { _id: 1 } })
    const greatest = Long.fromBigInt(integerIn(found?._id))
    const last = { $add: [{ $max: ['$last', greatest] }, one] }
    const counted = await counters.findOneAndUpdate({ _id }, [{ $set: { last } }], {
      ...{ upsert: true, returnDocument: 'after', promoteLongs: false },
    })
    return String(counted?.last)
  }
}

const NUMBERED: Document = { _id: { $type: ['int', 'long', 'double'] } }

/** The greatest integer that is not above a number of BSON: a Long is an object if JavaScript has no such number. */
function integerIn(id: unknown): bigint {
  if (typeof id !== 'number') return BigInt(String(id ?? 0))
  return Number.isFinite(id) ? BigInt(Math.floor(id)) : 0n
}
