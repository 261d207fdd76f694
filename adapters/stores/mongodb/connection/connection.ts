/**
 * The connection of a store: when it is made, what is under way on it, and its end.
 *
 * @module
 */

import {
  type Db,
  type MongoClient,
  ReadConcern,
  type TopologyDescriptionChangedEvent as Seen,
  type TopologyDescription,
} from 'mongodb'
import { type CollectionSchema, StoreUnavailable } from '../../../../src/ports/store.ts'
import { connect, refuseOther, refuseWeaker } from './client.ts'
import { portError } from './errors.ts'

/** Runs an operation on the collection and turns its errors into the port's. */
export type Run = <T>(work: () => Promise<T>) => Promise<T>

/** Where a database is: at a `url`, or behind a `client` that the store does not close. */
interface Address {
  readonly url?: string | undefined
  readonly client?: MongoClient | undefined
  readonly database?: string | undefined
}

/** An operation that waits for the database. */
interface Call {
  readonly ended: Promise<unknown>
  giveUp(error: unknown): void
}

/** How long after the time to find a server an operation may still wait for one that has gone, in milliseconds. */
const GRACE_MS = 1500

/** A database that is connected to on the first operation. */
export class Connection {
  readonly client: MongoClient
  readonly database: Db
  readonly #isOwn: boolean
  readonly #underWay = new Set<Call>()
  #outage: NodeJS.Timeout | undefined
  #isConnected = false
  #closed: Promise<void> | undefined
  #isSharded: boolean | undefined

  constructor({ url, client: given, database }: Address) {
    if (given !== undefined) refuseOther(given)
    this.client = given ?? connect(url)
    this.#isOwn = given === undefined
    refuseWeaker(this.client)
    this.database = this.client.db(database, {
      writeConcern: { w: 'majority', journal: true },
      readConcern: new ReadConcern('majority'),
      readPreference: 'primary',
      ignoreUndefined: true,
    })
    this.client.on('topologyDescriptionChanged', this.#look)
  }

  /** Does `work` and turns its errors into the port's; `schema` names the fields that they are about. */
  async run<T>(schema: CollectionSchema | undefined, work: () => Promise<T>): Promise<T> {
    if (this.#closed) throw new StoreUnavailable('the store has been closed')
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const call: Call = { ended: promise, giveUp: reject }
    this.#underWay.add(call)
    const working = this.#isConnected ? work() : this.#connected().then(work)
    working.then(resolve, reject)
    try {
      return await promise
    } catch (error) {
      throw portError(error, schema)
    } finally {
      this.#underWay.delete(call)
    }
  }

  /** Whether the database is a sharded cluster. */
  async isSharded(): Promise<boolean> {
    try {
      this.#isSharded ??= (await this.database.command({ hello: 1 })).msg === 'isdbgrid'
    } catch {
      // What is right on shards is right everywhere.
      return true
    }
    return this.#isSharded
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

  // The driver waits for the end of a connection that is in use, which Bun 1.4 does not always tell of.
  readonly #look = ({ newDescription }: Seen): void => {
    if (isServing(newDescription)) {
      clearTimeout(this.#outage)
      this.#outage = undefined
    } else {
      const { serverSelectionTimeoutMS } = this.client.options
      this.#outage ??= setTimeout(this.#giveUp, serverSelectionTimeoutMS + GRACE_MS)
      this.#outage.unref()
    }
  }

  readonly #giveUp = (): void => {
    this.#outage = undefined
    const error = new StoreUnavailable('the database cannot be reached')
    for (const { giveUp } of this.#underWay) giveUp(error)
  }

  async #end(): Promise<void> {
    await Promise.allSettled([...this.#underWay].map(({ ended }) => ended))
    this.client.off('topologyDescriptionChanged', this.#look)
    clearTimeout(this.#outage)
    if (this.#isOwn) await this.client.close()
  }
}

/** Whether some server takes writes, or the only one that is asked is there. */
function isServing({ type, servers }: TopologyDescription): boolean {
  const types = [...servers.values()].map((server) => server.type)
  if (type === 'Single') return types.every((one) => one !== 'Unknown')
  return types.some((one) => SERVING.has(one))
}

const SERVING: ReadonlySet<string> = new Set(['Standalone', 'RSPrimary', 'Mongos', 'LoadBalancer'])
