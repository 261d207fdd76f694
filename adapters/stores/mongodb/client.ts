/**
 * The connection: its deadlines, and what it may not be told to do.
 *
 * @module
 */

import { MongoClient, type MongoClientOptions } from 'mongodb'

/**
 * Deadlines under which a database that is gone, or hangs, is noticed within five seconds. What hangs is noticed by
 * the monitor, whose heartbeats must be answered within connectTimeoutMS; it then cuts the connections in use. A socket
 * timeout would do the same to a slow query of a healthy server.
 */
const deadlines: MongoClientOptions = {
  heartbeatFrequencyMS: 500,
  connectTimeoutMS: 1250,
  serverSelectionTimeoutMS: 1500,
  waitQueueTimeoutMS: 4000,
  // A connection that is not answered counts as an overload, and each retry of one costs a connectTimeoutMS.
  maxAdaptiveRetries: 1,
  // Gateways forget idle connections without a word.
  maxIdleTimeMS: 60_000,
}

/** A client that connects on first use. The address's own options win over the kit's deadlines. */
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

/**
 * Throws a `TypeError` when a client is told to acknowledge writes that a failover may lose, or to read elsewhere
 * than from the primary. To overrule that in silence would not be honest.
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
