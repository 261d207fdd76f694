/**
 * Whether collections have been written to, from a change stream.
 *
 * @module
 */

import type { ChangeStream, ChangeStreamOptions, Db, MongoClient } from 'mongodb'
import type { WriteWatch } from '../../../src/ports/copying.ts'
import { hasCode } from './errors.ts'

/** No change streams without a replica set, and none without the right to read them. */
const NO_STREAM: ReadonlySet<number> = new Set([
  13, // Unauthorized
  40573, // The $changeStream stage is only supported on replica sets
])

/** How long the server waits for a change before it says how far it has come, in milliseconds. */
const WAIT_MS = 50

/** Watches `collections`; undefined where there are no change streams. */
export async function watchWrites(
  client: MongoClient,
  database: Db,
  collections: readonly string[],
): Promise<WriteWatch | undefined> {
  // Each operation of the session sees what the ones before it have seen.
  const session = client.startSession({ causalConsistency: true })
  const pipeline = [
    { $match: { $or: [{ 'ns.coll': { $in: collections } }, { operationType: 'dropDatabase' }] } },
    { $project: { _id: 1 } },
  ]
  let stream: ChangeStream | undefined

  /** A stream that has begun; reads that begin after it see all changes that it does not tell of. */
  async function opened(options: ChangeStreamOptions = {}): Promise<ChangeStream> {
    const fresh = database.watch(pipeline, { ...options, session, maxAwaitTimeMS: WAIT_MS })
    await fresh.tryNext()
    await database.collection(collections[0] ?? 'none').findOne({}, { session })
    return fresh
  }

  async function begin(): Promise<void> {
    await stream?.close()
    stream = await opened()
  }

  /** How far a stream must have come to have told of every change until now. */
  async function now(): Promise<string> {
    await database.command({ ping: 1 }, { session })
    const { operationTime } = session
    const fresh = await opened(operationTime && { startAtOperationTime: operationTime })
    await fresh.close()
    return positionOf(fresh)
  }

  async function close(): Promise<void> {
    await stream?.close()
    await session.endSession()
  }

  try {
    await begin()
  } catch (error) {
    await close()
    if ([...NO_STREAM].some((code) => hasCode(error, code))) return undefined
    throw error
  }
  return {
    async written() {
      const isWritten = !stream || (await hasChange(stream, await now()))
      if (isWritten) await begin()
      return isWritten
    },
    close,
  }
}

/** Whether there is a change in `stream` up to `end`. It is asked at least once: `end` may be where it is already. */
async function hasChange(stream: ChangeStream, end: string): Promise<boolean> {
  do {
    if (stream.closed || (await stream.tryNext())) return true
  } while (positionOf(stream) < end)
  return false
}

/** How far a stream has come: these strings are in the order of time. */
function positionOf({ resumeToken }: ChangeStream): string {
  return String((resumeToken as { _data?: unknown } | undefined)?._data ?? '')
}
