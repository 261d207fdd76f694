/** The file store with deadlines: if it is down, slow or refuses, the response is a 503 in time. */

import { causeOf, outageLog } from '../http/errors/outages.ts'
import { withTimeout } from '../ports/promises/with-timeout.ts'
import type { FileMeta, FileStore } from '../ports/services/files.ts'
import type { Logger } from '../ports/services/logger.ts'
import { madeOnce } from '../ports/values/once.ts'
import { storageUnavailable } from './refusals.ts'

/** How long a call may take, plus extra time for each MiB that it sends. */
const DEADLINE_MS = 5000
const DEADLINE_MS_PER_MIB = 1000
/** A store that has just failed is hardly available for cleaning up, and the client waits for its response. */
const CLEAN_UP_MS = 1000
const MIB = 1024 * 1024

export interface NewObject {
  readonly key: string
  /** Its bytes, from the first. */
  readonly open: () => ReadableStream<Uint8Array> | Uint8Array
  readonly meta: FileMeta
}

/** The result of `work`; any failure of it is a 503 of the storage. */
export function ofStorage<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    throw storageUnavailable(error)
  })
}

/** Stores all of `objects`, or rejects with a 503 and leaves none of them behind. */
export async function putAll(
  store: FileStore,
  objects: readonly NewObject[],
  logger: Logger,
): Promise<void> {
  const puts = objects.map(({ key, open, meta }) => {
    const patience = DEADLINE_MS + (meta.size / MIB) * DEADLINE_MS_PER_MIB
    return inTime(patience, async (signal) => {
      const put = () => store.put(key, open(), meta, { signal })
      return put().catch((error: unknown) => {
        if (signal.aborted || Object(error).again !== true) throw error
        return put()
      })
    })
  })
  const failed = (await Promise.allSettled(puts)).find((put) => put.status === 'rejected')
  if (!failed) return
  const keys = objects.map(({ key }) => key)
  // A put that timed out may still have arrived.
  await removeAll(store, keys, logger, CLEAN_UP_MS)
  throw storageUnavailable(failed.reason)
}

/** One line a second for each cause: the sweeper finds all files that are left. */
const leftOutOf = madeOnce((_: FileStore) => outageLog())

/** Removes objects that no record points at any more. What fails is left to the sweeper. */
export async function removeAll(
  store: FileStore,
  keys: readonly string[],
  logger: Logger,
  patience: number = DEADLINE_MS,
): Promise<void> {
  const removals = keys.map((key) => inTime(patience, (signal) => store.delete(key, { signal })))
  for (const [index, removal] of (await Promise.allSettled(removals)).entries()) {
    if (removal.status === 'fulfilled' || leftOutOf(store)(removal.reason) === undefined) continue
    logger.warn('a stored file could not be removed; the sweeper will', {
      key: keys[index],
      error: causeOf(removal.reason),
    })
  }
}

/** The result of `call`; rejects at the deadline even if the store ignores its signal. */
function inTime<T>(ms: number, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const deadline = new AbortController()
  const late = () => new Error(`the file store did not respond within ${Math.round(ms)} ms`)
  const work = () => call(deadline.signal)
  return withTimeout(ms, work, late, (reason) => deadline.abort(reason))
}
