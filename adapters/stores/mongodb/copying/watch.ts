import type { ChangeStream, ChangeStreamOptions, Db, MongoClient } from 'mongodb'
import type { WriteWatch } from '../../../../src/ports/store/copying.ts'
import { hasCode } from '../connection/errors.ts'

/** No change streams without a replica set, and none without the right to read them. */
const NO_STREAM = [
  13, // Unauthorized
  40573, // The $changeStream stage is only supported on replica sets
  8000, // AtlasError: Flex clusters have none
]

/** The log of changes has been cut off after the stream's position: nobody knows what came then. */
const LOST = [
  136, // CappedPositionLost
  286, // ChangeStreamHistoryLost
]

/** How long the server waits for a change before it says how far it has come, in milliseconds. */
const WAIT_MS = 50

/** How often a stream is read while nobody asks, in milliseconds: the log of changes has a limited length. */
const KEEP_UP_MS = 500

/** Tells whether `collections` have been written to, from a change stream; undefined where there are none. */
export async function watchWrites(
  client: MongoClient,
  database: Db,
  collections: readonly string[],
): Promise<WriteWatch | undefined> {
  // Each operation of the session sees what the ones before it have seen.
  const session = client.startSession({ causalConsistency: true })
  const concerned = [{ 'ns.coll': { $in: [...collections] } }, { operationType: 'dropDatabase' }]
  const pipeline = [{ $match: { $or: concerned } }, { $project: { _id: 1 } }]
  const inTurn = queue()
  let isWritten = false

  /** A stream that has begun; reads that begin after it see all changes that it does not tell of. */
  async function opened(options: ChangeStreamOptions = {}): Promise<ChangeStream> {
    const fresh = database.watch(pipeline, { ...options, session, maxAwaitTimeMS: WAIT_MS })
    await fresh.tryNext()
    await database.collection(collections[0] ?? 'none').findOne({}, { session })
    return fresh
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
    if (!(await hasChange(stream, end))) return
    isWritten = true
    await stream.close()
    stream = await opened()
  }

  let stream: ChangeStream
  try {
    stream = await opened()
  } catch (error) {
    await session.endSession()
    if (NO_STREAM.some((code) => hasCode(error, code))) return undefined
    throw error
  }
  // If this fails, so does the next one whose caller waits for it.
  const keepUp = () => void inTurn(() => read('')).catch(() => {})
  const timer = setInterval(keepUp, KEEP_UP_MS).unref()
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
      await inTurn(() => stream.close())
      await session.endSession()
    },
  }
}

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
    if (LOST.some((code) => hasCode(error, code))) return true
    throw error
  }
}

/** How far a stream has come: these strings are in the order of time. */
function positionOf({ resumeToken }: ChangeStream): string {
  return String((resumeToken as { _data?: unknown } | undefined)?._data ?? '')
}
