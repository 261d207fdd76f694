/**
 * Writes of records that point at files: loaded with the first that does.
 *
 * Objects are stored after every check that can refuse the write, and before the record that points at them is saved.
 * They are removed after the commit that no longer points at them. So no record ever points at a missing object, and
 * the sweeper finds what a crash leaves behind.
 */

import { checkTime } from '../http/deadline.ts'
import { HttpError } from '../http/errors/errors.ts'
import { changedMeanwhile, entryNotFound } from '../http/errors/refusals.ts'
import type { ApiRequest } from '../http/request/request.ts'
import type { Model } from '../model/model.ts'
import type { FileStore } from '../ports/services/files.ts'
import type { ImageOptimizer } from '../ports/services/images.ts'
import { type Logger, loggerFor } from '../ports/services/logger.ts'
import { any, type Filter } from '../ports/store/filter.ts'
import type { Fields } from '../ports/store/records.ts'
import { type ObjectShape, placeOf } from '../ports/store/shape.ts'
import type { Collection } from '../ports/store/store.ts'
import { StoreTimeout, StoreUnavailable } from '../ports/store/store-errors.ts'
import { messageText } from '../ports/values/causes.ts'
import { urlsIn, withoutGoneFiles } from './file-values.ts'
import type { ModelFiles } from './model-files.ts'
import { optimised } from './optimise.ts'
import type { Upload } from './options.ts'
import type { Incoming, IncomingFile } from './receive.ts'
import { storageNotConfigured } from './refusals.ts'
import { dispositionOf } from './sniff.ts'
import { type NewObject, ofStorage, putAll, removeAll } from './storage.ts'
import { stripped } from './strip/stripped.ts'
import type { FilePlace } from './sweep.ts'

export interface FileHost {
  readonly files: FileStore | undefined
  readonly images: ImageOptimizer | undefined
  readonly logger: Logger
  readonly filePlaces: readonly FilePlace[]
}

/** What a write of records with file fields needs: a mounted resource, or the accounts of an auth router. */
export interface FileOwner {
  readonly host: FileHost
  readonly engine: {
    readonly model: Model
    readonly stored: Pick<Collection, 'count'>
    first(filter: Filter): Promise<Fields | undefined>
    /** Updates that others overtake wait for each other. */
    readonly judging: Retrying
  }
  readonly files: ModelFiles
  readonly upload?: Upload | undefined
}

interface Retrying {
  /** The result of the first attempt that nobody overtakes; undefined if all `maxTries` are. */
  retry<T>(
    maxTries: number,
    attempt: (
      awaited: (record: string) => boolean,
    ) => Promise<{ readonly result: T } | { readonly overtaken: string }>,
  ): Promise<{ readonly result: T } | undefined>
}

export type IncomingFiles = Pick<Incoming, 'files' | 'level' | 'client' | 'request'>

/** An update of the record that matches `filter`. */
export interface FileUpdate {
  readonly filter: Filter
  readonly changes: Fields
  /** What the record must be like, and the refusal if it is not. */
  readonly expected: { readonly fields: Fields; readonly refusal: Error } | undefined
  /** Writes values if the record is as expected; resolves to null if it is not. */
  readonly write: (values: Fields, expect: Fields) => Promise<Fields | null>
}

/** How often an update that others overtake is tried. */
const MAX_TRIES = 20

/** Stores the files that `values` points at, then saves; if that fails, removes them again. */
export async function saveWithFiles(
  resource: FileOwner,
  incoming: IncomingFiles,
  values: Fields,
  save: () => Promise<Fields>,
): Promise<Fields> {
  checkTime(incoming.request)
  const wanted = objectsOf(resource, values)
  const files = incoming.files.filter(({ key }) => wanted.has(key))
  if (files.length === 0) return save()
  const store = resource.host.files
  if (!store) throw storageNotConfigured()
  const logger = loggerFor(incoming.request, resource.host.logger)
  const objects: NewObject[] = []
  // One after the other: a decoded image is many times as large as its file.
  for (const file of files) objects.push(await objectOf(resource, file, incoming))
  await putAll(store, objects, logger)
  try {
    checkTime(incoming.request)
    return await save()
  } catch (error) {
    // A save that may have happened after all must not leave a dead link, so leave the objects to the sweeper.
    const keys = files.map(({ key }) => key)
    if (!(await mayBeSaved(resource, files, error))) await removeAll(store, keys, logger)
    throw error
  }
}

/** Saves changes of file fields and removes what they replace. Throws a 404, or the refusal of what is expected. */
export async function updateWithFiles(
  resource: FileOwner,
  incoming: IncomingFiles,
  { filter, changes, expected, write }: FileUpdate,
): Promise<Fields> {
  const { engine, files, host } = resource
  const touched = files.namedIn(changes)
  // Nothing is stored for a missing record.
  requireFound(await engine.first(filter))
  let replaced: ReadonlyMap<string, string> = new Map()
  const attempt = async (awaited: (record: string) => boolean) => {
    const before = requireFound(await engine.first(filter))
    const id = String(before._id)
    if (awaited(id)) return { overtaken: id }
    const there = new Set(objectsOf(resource, before).keys())
    for (const { key } of incoming.files) there.add(key)
    const gone = await goneIn(resource, touched, changes, there)
    const safe = withoutGoneFiles(touched, changes, (url) => gone.has(url))
    // Compare-and-set: of two uploads to one field, each removes exactly what it has replaced.
    const kept = Object.fromEntries(touched.map((name) => [name, before[name]]))
    const result = await write(safe, { ...kept, ...expected?.fields })
    if (!result && expected) throw expected.refusal
    if (!result) return { overtaken: id }
    const held = objectsOf(resource, result)
    replaced = new Map([...objectsOf(resource, before)].filter(([key]) => !held.has(key)))
    return { result }
  }
  const updated = await saveWithFiles(resource, incoming, changes, async () => {
    const done = await engine.judging.retry<Fields>(MAX_TRIES, attempt)
    if (!done) throw changedMeanwhile()
    return done.result
  })
  await removeUnheld(host, replaced, incoming.request)
  return updated
}

/** Removes the objects that no record holds any more. */
export async function removeUnheld(
  host: FileHost,
  objects: ReadonlyMap<string, string>,
  request: ApiRequest,
): Promise<void> {
  const { files: store, filePlaces } = host
  if (!store || objects.size === 0) return
  const logger = loggerFor(request, host.logger)
  try {
    await removeAll(store, await unheld(objects, filePlaces, store), logger)
  } catch (error) {
    // The record is already written. The sweeper finds what should have been removed with it.
    logger.warn('stored files could not be removed; the sweeper will', {
      keys: [...objects.keys()],
      error: messageText(error),
    })
  }
}

function requireFound(record: Fields | undefined): Fields {
  if (!record) throw entryNotFound()
  return record
}

function objectsOf({ files, host }: FileOwner, record: Fields): Map<string, string> {
  return files.objectsOf(record, host.files)
}

/**
 * The URLs in the fields `names` of `changes` whose files an upload stored and another write has removed meanwhile: neither
 * the record has them, by the keys `there`, nor another one, whose files your app's code may give it.
 */
async function goneIn(
  { host, files }: FileOwner,
  names: readonly string[],
  changes: Fields,
  there: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const store = host.files
  const absent = new Map<string, string>()
  for (const url of names.flatMap((name) => urlsIn(changes[name]))) {
    const key = store?.keyOf(url)
    if (key !== undefined && files.isOwn(key) && !there.has(key)) absent.set(key, url)
  }
  const gone = store ? await unheld(absent, host.filePlaces, store) : []
  return new Set(gone.map((key) => absent.get(key) ?? ''))
}

async function objectOf(
  { upload, host }: FileOwner,
  { key, held, type }: IncomingFile,
  { level, client, request }: IncomingFiles,
): Promise<NewObject> {
  // Staged files are read from disk, which may fail.
  const source = await ofStorage(stripped(held, type.mime))
  const { images } = host
  const logger = loggerFor(request, host.logger)
  const smaller =
    level && images && (await optimised({ source, mime: type.mime, level, client }, images, logger))
  return {
    key,
    open: () => smaller ?? source.stream(),
    meta: {
      contentType: type.mime,
      contentDisposition: dispositionOf(type.mime),
      acl: upload?.acl ?? 'private',
      size: smaller?.length ?? source.size,
    },
  }
}

/** Whether a save that failed with `error` has happened, may still happen, or is in doubt. */
async function mayBeSaved(
  { engine }: FileOwner,
  files: readonly IncomingFile[],
  error: unknown,
): Promise<boolean> {
  if (error instanceof HttpError) return false
  // What a store has given up on may reach the database later than any check made now.
  if (error instanceof StoreUnavailable || error instanceof StoreTimeout) return true
  const fields = new Set(files.map(({ field }) => field))
  const urls = files.map(({ url }) => url)
  try {
    return (await engine.stored.count(pointsAt(engine.model.shape, fields, urls))) > 0
  } catch {
    return true
  }
}

/** The filter for records of `shape` that hold one of `urls` in one of the file fields `names`. */
function pointsAt(shape: ObjectShape, names: Iterable<string>, urls: readonly string[]): Filter {
  const paths = [...names]
    .flatMap((name) => [name, `${name}.url`])
    .filter((path) => placeOf(shape, path))
  return any(paths.map((field): Filter => ({ op: 'in', field, values: urls })))
}

/** The keys of `objects` that no record in `places` holds: your app's code can make two records hold one object. */
async function unheld(
  objects: ReadonlyMap<string, string>,
  places: readonly FilePlace[],
  store: FileStore,
): Promise<string[]> {
  const left = new Map(objects)
  for (const { shape, fields, records } of places) {
    // Each record found holds at least one object, so the queries number at most one more than the objects.
    for (let more = true; more && left.size > 0; ) {
      const urls = [...left].flatMap(([key, url]) => [...new Set([url, store.urlOf(key)])])
      const filter = pointsAt(shape, fields, urls)
      const select = { include: fields }
      const [found = {}] = await records.find({ filter, sort: [], limit: 1, select })
      more = false
      for (const url of fields.flatMap((field) => urlsIn(found[field]))) {
        if (left.delete(store.keyOf(url) ?? '')) more = true
      }
    }
  }
  return [...left.keys()]
}
