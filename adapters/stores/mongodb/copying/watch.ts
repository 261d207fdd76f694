/**
 * Whether collections have been written to, from a change stream.
 *
 * @module
 */

import type { ChangeStream, ChangeStreamOptions, ClientSession, Db, MongoClient } from 'mongodb'
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
  const watch = new Watch(database, session, collections)
  try {
    await watch.begin()
    return { written: () => watch.written(), close: () => watch.close() }
  } catch (error) {
    await session.endSession()
    if (hasOneOf(error, NO_STREAM)) return undefined
    throw error
  }
}

class Watch {
  readonly #database: Db
  readonly #session: ClientSession
  readonly #collections: readonly string[]
  readonly #inTurn = queue()
  #stream: ChangeStream | undefined
  #timer: NodeJS.Timeout | undefined
  #isWritten = false

  constructor(database: Db, session: ClientSession, collections: readonly string[]) {
    this.#database = database
    this.#session = session
    this.#collections = collections
  }

  async begin(): Promise<void> {
    await this.#beginAnew()
    // If this fails, so does the next one whose caller waits for it.
    const keepUp = () => void this.#inTurn(() => this.#read('')).catch(() => {})
    this.#timer = setInterval(keepUp, KEEP_UP_MS).unref()
  }

  written(): Promise<boolean> {
    return this.#inTurn(async () => {
      await this.#read(await this.#now())
      const was = this.#isWritten
      this.#isWritten = false
      return was
    })
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#inTurn(async () => {
      await this.#stream?.close()
      await this.#session.endSession()
    })
  }

  /** Reads the stream up to `end`, if there is no change before it. After a change it begins anew. */
  async #read(end: string): Promise<void> {
    if (!(await hasChange(this.#stream ?? (await this.#beginAnew()), end))) return
    this.#isWritten = true
    await this.#beginAnew()
  }

  async #beginAnew(): Promise<ChangeStream> {
    await this.#stream?.close()
    this.#stream = await this.#opened()
    return this.#stream
  }

  /** How far a stream must have come to have told of every change until now. */
  async #now(): Promise<string> {
    await this.#database.command({ ping: 1 }, { session: this.#session })
    const { operationTime } = this.#session
    const fresh = await this.#opened(operationTime && { startAtOperationTime: operationTime })
    await fresh.close()
    return positionOf(fresh)
  }

  /** A stream that has begun; reads that begin after it see all changes that it does not tell of. */
  async #opened(options: ChangeStreamOptions = {}): Promise<ChangeStream> {
    const names = [...this.#collections]
    const session = this.#session
    const concerned = [{ 'ns.coll': { $in: names } }, { operationType: 'dropDatabase' }]
    const pipeline = [{ $match: { $or: concerned } }, { $project: { _id: 1 } }]
    const fresh = this.#database.watch(pipeline, { ...options, session, maxAwaitTimeMS: WAIT_MS })
    await fresh.tryNext()
    await this.#database.collection(names[0] ?? 'none').findOne({}, { session })
    return fresh
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
