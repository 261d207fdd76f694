/**
 * The connection of a store: when it is made, what is under way on it, and its end.
 *
 * @module
 */

import { type Db, type MongoClient, ReadConcern } from 'mongodb'
import { type CollectionSchema, StoreUnavailable } from '../../../../src/ports/store.ts'
import { connect, refuseOther, refuseWeaker } from './client.ts'
import { portError } from './errors.ts'
import { type Call, endWithOutages } from './outage.ts'

/** Runs an operation on the collection and turns its errors into the port's. */
export type Run = <T>(work: () => Promise<T>) => Promise<T>

/** Where a database is: at a `url`, or behind a `client` that the store does not close. */
interface Address {
  readonly url?: string | undefined
  readonly client?: MongoClient | undefined
  readonly database?: string | undefined
}

/** A database that is connected to on the first operation. */
export class Connection {
  readonly client: MongoClient
  readonly database: Db
  readonly #isOwn: boolean
  readonly #underWay = new Set<Call>()
  readonly #stopWatching: () => void
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
    this.#stopWatching = endWithOutages(this.client, this.#underWay)
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

  async #end(): Promise<void> {
    await Promise.allSettled([...this.#underWay].map(({ ended }) => ended))
    this.#stopWatching()
    if (this.#isOwn) await this.client.close()
  }
}
