/**
 * The connection: its deadlines, and the options that it refuses.
 *
 * @module
 */

import { MongoClient, type MongoClientOptions } from 'mongodb'

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
export function connect(url: string | undefined): MongoClient {
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
export function refuseOther(client: unknown): void {
  const { db, options } = Object(client)
  if (typeof db === 'function' && typeof options === 'object' && options !== null) return
  throw new TypeError(
    "mongoStore: 'client' is no MongoClient. With Mongoose, give it mongoose.connection.getClient(), after mongoose.connect()",
  )
}

/**
 * Throws a `TypeError` if the client's options acknowledge writes that a failover may lose, or read elsewhere than from
 * the primary. Overriding them silently would be misleading.
 */
export function refuseWeaker({ options }: MongoClient): void {
  const { w, journal } = options.writeConcern ?? {}
  if (w !== undefined && w !== 'majority')
    refuse('w', w, 'a write is acknowledged when a majority has it')
  if (journal === false)
    refuse('journal', journal, 'a write is acknowledged when it is in the journal')
  const { mode } = options.readPreference ?? { mode: 'primary' }
  if (mode !== 'primary') refuse('readPreference', mode, 'reads must see the writes before them')
}

function refuse(option: string, value: unknown, reason: string): never {
  throw new TypeError(`mongoStore: remove '${option}=${value}' from the address: ${reason}`)
}
