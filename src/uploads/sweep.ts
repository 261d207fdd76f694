/**
 * The sweeper: finds objects that no record points at, left over when a process ended between storing and saving.
 *
 * Objects are stored before the record that points at them is saved, and removed after the last such record, so a crash
 * never leaves a dead link, only an extra object.
 */

import { pages } from '../ports/evaluation/walk.ts'
import { nextTurn } from '../ports/promises/turns.ts'
import { withTimeout } from '../ports/promises/with-timeout.ts'
import type { FileStore, StoredFile } from '../ports/services/files.ts'
import type { Logger } from '../ports/services/logger.ts'
import { BY_ID, everything } from '../ports/store/filter.ts'
import type { ObjectShape } from '../ports/store/shape.ts'
import type { Collection } from '../ports/store/store.ts'
import { isOwnKey } from './model-files.ts'
import { removeAll } from './storage.ts'

/** Where one router keeps its files, and which records may point at them. */
export interface FilePlace {
  readonly prefix: string
  readonly fields: readonly string[]
  /** The shape of the records. */
  readonly shape: ObjectShape
  readonly records: Collection
}

/** The files of an app, as the sweeper needs them. */
export interface AppFiles {
  readonly store: FileStore | undefined
  readonly places: readonly FilePlace[]
  readonly logger: Logger
}

/** Options of `sweepFiles`. */
export interface SweepOptions {
  /** Objects younger than this many seconds stay: their record may be about to be saved. Default 3600. */
  readonly graceSeconds?: number
  /** If true, orphans are only listed, not removed. Default false. */
  readonly dryRun?: boolean
  /** The clock, in epoch milliseconds. Default `Date.now`. */
  readonly now?: () => number
}

/** The result of a sweep. */
export interface Swept {
  /** The number of objects older than the grace period. */
  readonly examined: number
  /** The keys of those that no record points at. */
  readonly orphans: readonly string[]
}

/** Objects checked in one pass over the records. */
const BATCH = 100_000
const REMOVALS = 20
/** A store that lists nothing for so many milliseconds is given up: a sweep that hangs would be the last one of its job. */
const SILENCE_MS = 60_000

/**
 * Removes the objects of an app's mounted routers that no record points at, and resolves to their keys. In `app`, mount
 * every router whose records may point at files under the same `upload.path` of the same store.
 *
 * ```ts
 * import { sweepFiles } from 'fieldgate'
 * const { orphans } = await sweepFiles(app)
 * ```
 */
export async function sweepFiles(
  app: { readonly files: AppFiles; ready(): Promise<void> },
  options: SweepOptions = {},
): Promise<Swept> {
  const { graceSeconds = 3600, dryRun = false, now = Date.now } = options
  if (!app?.files) throw new TypeError('sweepFiles(app) takes an app that createApp() returned')
  const { files } = app
  await app.ready()
  const before = now() - graceSeconds * 1000
  let examined = 0
  const orphans: string[] = []
  for await (const batch of oldObjects(files, before)) {
    examined += batch.size
    for (const key of await unreferenced(files, batch)) orphans.push(key)
  }
  if (!dryRun && files.store) {
    for (let at = 0; at < orphans.length; at += REMOVALS) {
      await removeAll(files.store, orphans.slice(at, at + REMOVALS), files.logger)
    }
  }
  return { examined, orphans }
}

/** Objects by the last part of their keys. */
type Batch = Map<string, string>

async function* oldObjects(files: AppFiles, before: number): AsyncGenerator<Batch> {
  let batch: Batch = new Map()
  for (const prefix of outermost(files.places.map((place) => place.prefix))) {
    for await (const { key, storedAt } of listed(files.store, prefix)) {
      if (storedAt > before || !files.places.some((place) => isOwnKey(place.prefix, key))) continue
      batch.set(lastPart(key), key)
      if (batch.size < BATCH) continue
      yield batch
      batch = new Map()
    }
  }
  if (batch.size > 0) yield batch
}

async function* listed(store: FileStore | undefined, prefix: string): AsyncGenerator<StoredFile> {
  const found = store?.list(prefix)[Symbol.asyncIterator]()
  const late = () => new Error(`the file store listed nothing for ${SILENCE_MS / 1000} seconds`)
  try {
    while (found) {
      const { done, value } = await withTimeout(SILENCE_MS, () => found.next(), late)
      if (done) return
      yield value
    }
  } finally {
    // Closes what it has open, sooner or later: one that is silent would not return.
    found?.return?.().catch(() => {})
  }
}

/** The prefixes, without those that another one covers. */
function outermost(prefixes: readonly string[]): string[] {
  const unique = [...new Set(prefixes)]
  return unique.filter((one) => !unique.some((other) => other !== one && one.startsWith(other)))
}

/**
 * The keys that no record points at, by their last parts: URLs may be of an address that the store had before. Another
 * version of the app may have them in a field that the model has no more, or has not yet.
 */
async function unreferenced(files: AppFiles, batch: Batch): Promise<Iterable<string>> {
  for (const { records } of files.places) {
    const read = { filter: everything, sort: BY_ID, hints: { isWhole: true } } as const
    for await (const page of pages(records, read)) {
      for (const record of page) for (const text of textsIn(record)) batch.delete(lastPart(text))
      // A store in this process answers at once: requests would wait for the whole sweep.
      await nextTurn()
    }
  }
  return batch.values()
}

function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (typeof value === 'object' && value !== null)
    for (const member of Object.values(value)) yield* textsIn(member)
}

/** The part with random bits: no other object has it. */
function lastPart(url: string): string {
  const [path = ''] = url.split(/[?#]/, 1)
  return path.slice(path.lastIndexOf('/') + 1)
}
