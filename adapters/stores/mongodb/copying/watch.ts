/**
 * Whether collections have been written to, from a change stream.
 *
 * @module
 */

import type { ChangeStream, ChangeStreamOptions, Db, MongoClient } from 'mongodb'
import type { WriteWatch } from '../../../../src/ports/copying.ts'
import { hasCode } from '../connection/errors.ts'

/** No change streams without a replica set, and none without the right to read them. */
const NO_STREAM: ReadonlySet<number> = new Set([
  13, // Unauthorized
  40573, // The $changeStream stage is only supported on replica sets
])

/** The log of changes has been cut off after the stream's position: nobody knows what came then. */
const LOST: ReadonlySet<number> = new Set([
  136, // CappedPositionLost
  286, // ChangeStreamHistoryLost
])

/** How long the server waits for a change before it says how far it has come, in milliseconds. */
const WAIT_MS = 50

/** How often a stream is read while nobody asks, in milliseconds: the log of changes has a limited length. */
const KEEP_UP_MS = 500

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
  let isWritten = false

  /** A stream that has begun; reads that begin after it see all changes that it does not tell of. */
  async function opened(options: ChangeStreamOptions = {}): Promise<ChangeStream> {
    const fresh = database.watch(pipeline, { ...options, session, maxAwaitTimeMS: WAIT_MS })
    await fresh.tryNext()
    await database.collection(collections[0] ?? 'none').findOne({}, { session })
    return fresh
  }

  async function begin(): Promise<ChangeStream> {
    await stream?.close()
    stream = await opened()
    return stream
  }

  /** How far a stream must have come to have told of every change until now. */
  async function now(): Promise<string> {
    await database.command({ ping: 1 }, { session })
    const { operationTime } = session
    const fresh = await opened(operationTime && { startAtOperationTime: operationTime })
    await fresh.close()
    return positionOf(fresh)
  }

  /** Reads the stream up to `end`, if there is no change before it. After a change it begins anew. */
  async function read(end: string): Promise<void> {
    if (!(await hasChange(stream ?? (await begin()), end))) return
    isWritten = true
    await begin()
  }

  try {
    await begin()
  } catch (error) {
    await session.endSession()
    if (hasOneOf(error, NO_STREAM)) return undefined
    throw error
  }
  const inTurn = queue()
  const timer = setInterval(() => {
    // If this fails, so does the next one whose caller waits for it.
    inTurn(() => read('')).catch(() => {})
  }, KEEP_UP_MS)
  timer.unref()
  return {
    written: () =>
      inTurn(async () => {
        await read(await now())
        const was = isWritten
        isWritten = false
        return was
      }),
    async close() {
      clearInterval(timer)
      await inTurn(async () => {
        await stream?.close()
        await session.endSession()
      })
    },
  }
}

/** Runs one piece of work after the other. */
function queue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const next = last.then(work, work)
    last = next
    return next
  }
}

/** Whether there is a change in `stream` up to `end`. It is asked at least once: `end` may be where it is already. */
async function hasChange(stream: ChangeStream, end: string): Promise<boolean> {
  try {
    do {
      if (stream.closed || (await stream.tryNext())) return true
    } while (positionOf(stream) < end)
    return false
  } catch (error) {
    if (hasOneOf(error, LOST)) return true
    throw error
  }
}

function hasOneOf(error: unknown, codes: ReadonlySet<number>): boolean {
  return [...codes].some((code) => hasCode(error, code))
}

/** How far a stream has come: these strings are in the order of time. */
function positionOf({ resumeToken }: ChangeStream): string {
  return String((resumeToken as { _data?: unknown } | undefined)?._data ?? '')
}
