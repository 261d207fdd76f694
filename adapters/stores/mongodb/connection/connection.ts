/** The connection of a store: its deadlines, what is under way on it, and its end. */

import {
  type Db,
  MongoClient,
  type MongoClientOptions,
  ReadConcern,
  type TopologyDescription,
} from 'mongodb'
import type { CollectionSchema } from '../../../../src/ports/store/store.ts'
import { StoreUnavailable } from '../../../../src/ports/store/store-errors.ts'
import { madeOnce } from '../../../../src/ports/values/once.ts'
import { portError } from './errors.ts'

/** Runs an operation and turns its errors into the port's. */
export type Run = <T>(work: () => Promise<T>) => Promise<T>

/** Where a database is: at a `url`, or behind a `client` that the store does not close. */
interface Address {
  readonly url?: string | undefined
  readonly client?: MongoClient | undefined
  readonly database?: string | undefined
}

type Call = Pick<PromiseWithResolvers<unknown>, 'promise' | 'reject'>

interface Seen {
  readonly level: 'majority' | 'snapshot'
}
export const MAJORITY: Seen = { level: 'majority' }
/** The first version that reads at one moment outside of a transaction. */
const MONGODB_5 = 13

/** A database that is connected to on the first operation. */
export class Connection {
  readonly client: MongoClient
  readonly database: Db
  readonly #isOwn: boolean
  readonly #underWay = new Set<Call>()
  #isConnected = false
  #closed: Promise<void> | undefined
  #isSharded: boolean | undefined
  /** What a read asks for: to see what a majority has, all of it at one moment if the server can. */
  readConcern: Seen = MAJORITY

  constructor({ url, client: given, database }: Address) {
    this.#isOwn = given === undefined
    this.client = given === undefined ? connect(url) : clientOf(given)
    refuseWeaker(this.client)
    this.database = this.client.db(database, {
      writeConcern: { w: 'majority', journal: true },
      readConcern: new ReadConcern('majority'),
      readPreference: 'primary',
      ignoreUndefined: true,
      // A client of the app may read otherwise.
      ...{ raw: false, promoteValues: true, useBigInt64: false },
    })
    callsOn(this.client).add(this.#underWay)
  }

  /** Returns what runs operations; `schema` names the fields that their errors are about. */
  on(schema?: CollectionSchema): Run {
    return async <T>(work: () => Promise<T>) => {
      if (this.#closed) throw new StoreUnavailable('the store has been closed')
      const call = Promise.withResolvers<T>()
      this.#underWay.add(call)
      const working = this.#isConnected ? work() : this.#connected().then(work)
      working.then(call.resolve, call.reject)
      try {
        return await call.promise
      } catch (error) {
        throw portError(error, schema)
      } finally {
        this.#underWay.delete(call)
      }
    }
  }

  /** Asks the server, once, what it can, and whether it is one of a sharded cluster. */
  async greet(): Promise<boolean> {
    if (this.#isSharded !== undefined) return this.#isSharded
    const { msg, setName, maxWireVersion } = await this.database.command({ hello: 1 })
    this.#isSharded = msg === 'isdbgrid'
    const isOne = setName === undefined && !this.#isSharded
    if (!isOne && maxWireVersion >= MONGODB_5) this.readConcern = { level: 'snapshot' }
    return this.#isSharded
  }

  /** Whether the database is a sharded cluster. What is right on shards is right everywhere. */
  isSharded(): Promise<boolean> {
    return this.greet().catch(() => true)
  }

  /** Waits for what is under way, and closes the client unless it was given. */
  close(): Promise<void> {
    this.#closed ??= this.#end()
    return this.#closed
  }

  // Explicitly: after a failed first connection the driver would not try another by itself.
  async #connected(): Promise<void> {
    await this.client.connect()
    this.#isConnected = true
  }

  async #end(): Promise<void> {
    await Promise.allSettled([...this.#underWay].map(({ promise }) => promise))
    callsOn(this.client).delete(this.#underWay)
    if (this.#isOwn) await this.client.close()
  }
}

/**
 * With these deadlines, a database that is gone or hangs is noticed within five seconds. A hanging one is noticed by
 * the monitor, whose heartbeats must be answered within connectTimeoutMS; it then closes the connections in use. A
 * socket timeout would also close slow queries of a healthy server.
 */
const deadlines: MongoClientOptions = {
  heartbeatFrequencyMS: 500,
  connectTimeoutMS: 1250,
  serverSelectionTimeoutMS: 1500,
  waitQueueTimeoutMS: 4000,
  // A connection without a reply counts as an overload, and each retry of one costs a connectTimeoutMS.
  maxAdaptiveRetries: 1,
  // Gateways drop idle connections silently.
  maxIdleTimeMS: 60_000,
}

/** A client that connects on first use. The address's own options override fieldgate's deadlines. */
function connect(url: string | undefined): MongoClient {
  if (!url) throw new TypeError("mongoStore: 'url' or 'client' is needed")
  const query = url.includes('?') ? url.slice(url.indexOf('?') + 1) : ''
  const given = new Set([...new URLSearchParams(query).keys()].map((key) => key.toLowerCase()))
  const own = Object.entries(deadlines).filter(([key]) => !given.has(key.toLowerCase()))
  try {
    return new MongoClient(url, Object.fromEntries(own))
  } catch (error) {
    throw new TypeError(`mongoStore: ${(error as Error).message}`, { cause: error })
  }
}

/** Throws a `TypeError` for what is no client, such as a connection of Mongoose. */
function clientOf(client: MongoClient): MongoClient {
  const { db, options } = Object(client)
  if (typeof db === 'function' && typeof options === 'object' && options !== null) return client
  throw new TypeError(
    "mongoStore: 'client' is no MongoClient. With Mongoose, give it mongoose.connection.getClient(), after mongoose.connect()",
  )
}

/**
 * Throws a `TypeError` if the client's options acknowledge writes that a failover may lose, or read elsewhere than from
 * the primary. Overriding them silently would be misleading.
 */
function refuseWeaker({ options }: MongoClient): void {
  const { w = 'majority', journal } = options.writeConcern ?? {}
  if (w !== 'majority') refuse('w', w, 'a write is acknowledged when a majority has it')
  if (journal === false)
    refuse('journal', journal, 'a write is acknowledged when it is in the journal')
  const { mode } = options.readPreference ?? { mode: 'primary' }
  if (mode !== 'primary') refuse('readPreference', mode, 'reads must see the writes before them')
}

function refuse(option: string, value: unknown, reason: string): never {
  throw new TypeError(`mongoStore: remove '${option}=${value}' from the address: ${reason}`)
}

/** How long after the time to find a server an operation may still wait for one that has gone, in milliseconds. */
const GRACE_MS = 1500

/**
 * What is under way on `client`, for each store on it. Whenever there has been no server to ask for a while, all of it is
 * given up: the driver waits for the end of a connection that is in use, which Bun 1.4 does not always tell of.
 */
const callsOn = madeOnce((client: MongoClient) => {
  const all = new Set<ReadonlySet<Call>>()
  let timer: NodeJS.Timeout | undefined
  const giveUp = () => {
    timer = undefined
    const error = new StoreUnavailable('the database cannot be reached')
    for (const call of [...all].flatMap((calls) => [...calls])) call.reject(error)
  }
  const afterMs = client.options.serverSelectionTimeoutMS + GRACE_MS
  client.on('topologyDescriptionChanged', ({ newDescription }) => {
    if (!isServing(newDescription)) timer ??= setTimeout(giveUp, afterMs).unref()
    else {
      clearTimeout(timer)
      timer = undefined
    }
  })
  return all
})

/** Whether some server takes writes, or the only one that is asked is there. */
function isServing({ type, servers }: TopologyDescription): boolean {
  const types = [...servers.values()].map((server) => server.type)
  if (type === 'Single') return types.every((one) => one !== 'Unknown')
  return types.some((one) => SERVING.has(one))
}

const SERVING: ReadonlySet<string> = new Set(['Standalone', 'RSPrimary', 'Mongos', 'LoadBalancer'])
