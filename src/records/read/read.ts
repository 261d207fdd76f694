/** `GET <mount>/:id`, and what every read has in common: records from the store, as the JSON that is sent. */

import type { Loaded } from '../../cache/cached.ts'
import { respondToRead } from '../../cache/conditional.ts'
import { hintsFor } from '../../http/deadline.ts'
import { HttpError } from '../../http/errors/errors.ts'
import { entryNotFound, invalidId, responseTooLarge } from '../../http/errors/refusals.ts'
import { type ApiRequest, noQuery } from '../../http/request/request.ts'
import { recordJson } from '../../http/response/respond.ts'
import type { Model } from '../../model/model.ts'
import { idFrom } from '../../model/values/cast.ts'
import {
  declaredPart,
  declaredParts,
  declaredRecords,
  present,
  shownPart,
} from '../../model/versions/present.ts'
import type { MaybePromise } from '../../ports/promises/maybe-promise.ts'
import { nextTurn, TURN_LENGTH } from '../../ports/promises/turns.ts'
import { all, type Filter, withId } from '../../ports/store/filter.ts'
import { project } from '../../ports/store/projection.ts'
import type { Fields, Read, ReadHints } from '../../ports/store/records.ts'
import { datesAsText } from '../../ports/values/json.ts'
import { areLinksBelow, withLinksBelow } from '../../uploads/base-path.ts'
import { withSignedUrls } from '../../uploads/file-values.ts'
import type { Context, Handler } from '../engine/route.ts'
import { scopeOf } from '../rules/scope.ts'
import type { Resource, View } from '../setup/resource.ts'
import { choiceInUrl } from './choice.ts'
import { populate } from './populate.ts'
import type { RespondFromCache } from './read-cache.ts'
import { viewFor } from './view.ts'

export function readHandler(resource: Resource, cached: RespondFromCache | undefined): Handler {
  if (!cached) {
    return (request, context) => respondToRead(request, readRecord(resource, request, context))
  }
  return (request, context) =>
    cached(request, context, { kind: 'one' }, () => readRecord(resource, request, context))
}

/** One record, or 404. Nothing is awaited where all requests see the same: what the store has at once is there at once. */
export function readRecord(
  resource: Resource,
  request: ApiRequest,
  context: Context,
): MaybePromise<Loaded> {
  const id = requestedId(resource, request)
  const { scope, fieldsFor, onGet, plainView } = resource
  const isPlain = request.query === noQuery
  if (!isPlain || scope.read || fieldsFor || onGet)
    return readVisible(resource, id, request, context)
  const reading = { resource, view: plainView, request }
  const page = readPage(reading, { filter: withId(id), sort: [], limit: 1 })
  return page instanceof Promise
    ? page.then((found) => recordIn(reading, found))
    : recordIn(reading, page)
}

/** The record, if the request may see it: what lies outside of the scope counts as missing. */
async function readVisible(
  resource: Resource,
  id: string,
  request: ApiRequest,
  context: Context,
): Promise<Loaded> {
  const view = await viewFor(resource, request, context, choiceInUrl(request.query))
  const scope = await scopeOf(resource.model, resource.scope.read, request)
  const read = { filter: within(scope.filter, id), sort: [], limit: 1 }
  const reading = { resource, view, request }
  return recordIn(reading, await readPage(reading, read))
}

function recordIn({ resource, view }: Reading, { texts, unsigned }: Page): MaybePromise<Loaded> {
  const [text] = texts
  if (text === undefined) throw entryNotFound()
  const { cacheable } = view
  const body = recordJson(text, resource.maxResponseBytes)
  return unsigned ? unsigned().then(([state]) => ({ body, state, cacheable })) : { body, cacheable }
}

/** The records of a router as a request sees them. */
export interface Reading {
  readonly resource: Resource
  readonly view: View
  readonly request: ApiRequest
}

/** A page of records, each as JSON. */
export interface Page {
  readonly texts: readonly string[]
  /** The same with stored URLs instead of links; undefined if links are what is stored. */
  readonly unsigned?: () => Promise<readonly string[]>
  /** Whether the store had more records than are shown. */
  readonly hasMore: boolean
  lastId(): string
}

/** Reads and shows the first `count` records. Passes on the store's own JSON if nothing has to be changed. */
export function readPage(
  reading: Reading,
  read: Read,
  count: number = read.limit,
): MaybePromise<Page> {
  const { resource, view, request } = reading
  const { engine, model, lean, files, upload } = resource
  const hints = hintsFor(resource.hints, request)
  const query: Read = { ...read, ...(view.select && { select: view.select }), hints }
  const isChanged = view.populate.length > 0 || (model.output && !lean) || model.convert
  const hasLinks = (upload || files.names.length > 0) && changesLinks(reading)
  if (isChanged || hasLinks || !engine.stored.findJson) return readAndShow(reading, query, count)
  const found = engine.stored.findJson({ ...query, fillDefaults: !lean })
  // Not every store makes promises of this realm.
  return Array.isArray(found)
    ? pageOf(found, count)
    : (found as Promise<readonly string[]>).then((texts) => pageOf(texts, count))
}

/** Stored JSON begins with `_id`, as the store port promises; ids of adopted tables may need escapes. */
const LAST_ID = /^\{"_id":("(?:[^"\\]|\\.)*")/

function pageOf(found: readonly string[], count: number): Page {
  const texts = found.length > count ? found.slice(0, count) : found
  const lastId = () => JSON.parse(LAST_ID.exec(texts.at(-1) ?? '')?.[1] ?? '""') as string
  return { texts, hasMore: found.length > count, lastId }
}

async function readAndShow(reading: Reading, query: Read, count: number): Promise<Page> {
  const { model, engine, lean } = reading.resource
  const isSent = !model.output || lean
  const found = await declaredRecords(model, engine.stored, query, { lean, isSent })
  const records = found.slice(0, count)
  const { filled, linked } = await filledIn(reading, records, query.hints)
  return {
    texts: await textsOf(reading, linked),
    ...(linked !== filled && { unsigned: () => textsOf(reading, filled) }),
    hasMore: found.length > count,
    lastId: () => String(records.at(-1)?._id),
  }
}

/** Records as declared, with references filled in, and the same with the links that responses show. */
export async function filledIn(
  reading: Reading,
  declared: readonly Fields[],
  hints?: ReadHints,
): Promise<{ readonly filled: readonly Fields[]; readonly linked: readonly Fields[] }> {
  const isFilled = reading.view.populate.length > 0
  const filled = isFilled ? await fillIn(reading, declared, hints) : declared
  if (!changesLinks(reading)) return { filled, linked: filled }
  return { filled, linked: await Promise.all(filled.map((one) => withLinks(reading, one))) }
}

/**
 * A record as it is or was stored, as the JSON that is sent: fields selected, references filled in, `output` applied. If
 * that is too large for a response, the references stay ids: the write has happened, so it must not fail.
 */
export async function showWritten(reading: Reading, whole: Fields): Promise<string> {
  const { resource, view } = reading
  const { model, lean, maxResponseBytes } = resource
  const declared = declaredPart(model, whole, { lean })
  const chosen = view.select ? project(declared, view.select) : declared
  const textOf = async (record: Fields) => {
    const linked = resource.host.files ? await withLinks(reading, record) : record
    const shown = model.output ? present(model, linked, lean) : datesAsText(linked)
    return JSON.stringify(shown) ?? 'null'
  }
  if (view.populate.length === 0) return textOf(chosen)
  try {
    const [filled = chosen] = await fillIn(reading, [chosen])
    const text = await textOf(filled)
    if (text.length <= maxResponseBytes) return text
  } catch (error) {
    if (!(error instanceof HttpError) || error.status !== 413) throw error
  }
  return textOf(chosen)
}

function fillIn(
  { resource, view, request }: Reading,
  records: readonly Fields[],
  hints: ReadHints = hintsFor(resource.hints, request),
): Promise<readonly Fields[]> {
  const isSent = !resource.model.output || resource.lean
  return populate(records, view.populate, { ...resource, request, hints, isSent })
}

/** The JSON of records that the store has returned with the fields of the view. */
export async function shownTexts(
  resource: Resource,
  view: View,
  found: readonly Fields[],
  request: ApiRequest | undefined,
): Promise<readonly string[]> {
  const declared = declaredParts(resource.model, found, { ...view, lean: resource.lean })
  const filled = request && (await filledIn({ resource, view, request }, declared))
  return textsOf({ resource, view }, filled?.linked ?? declared)
}

/** Whether records are shown for a request, and not for all who have this view alike. */
export function showsFor(reading: Reading): boolean {
  return reading.view.populate.length > 0 || changesLinks(reading)
}

/** Each record's JSON, made one after the other until they are too large for a response. */
async function textsOf(
  { resource: { model, lean, maxResponseBytes }, view: { chosen } }: Omit<Reading, 'request'>,
  records: readonly Fields[],
): Promise<string[]> {
  const texts: string[] = []
  let length = 0
  let turnEnds = TURN_LENGTH
  for (const record of records) {
    const shown = model.output ? shownPart(present(model, record, lean), chosen) : record
    const text = JSON.stringify(shown) ?? 'null'
    texts.push(text)
    length += text.length
    if (length > maxResponseBytes) throw responseTooLarge()
    if (length < turnEnds) continue
    turnEnds = length + TURN_LENGTH
    await nextTurn()
  }
  return texts
}

/** Whether responses show other links to files than records hold. */
function changesLinks({ resource: { upload, host, files }, request }: Reading): boolean {
  if (upload?.signUrls !== undefined) return true
  return files.names.length > 0 && areLinksBelow(request, host.files)
}

/** `record` with links to its files: signed, if the router's options ask for it, and below the path of the mount. */
async function withLinks({ resource, request }: Reading, record: Fields): Promise<Fields> {
  const { upload, host, cache, files } = resource
  const store = host.files
  if (!store) return record
  const signed = upload ? await withSignedUrls(upload, record, store, cache?.ttl) : record
  return areLinksBelow(request, store)
    ? withLinksBelow(request, signed, files.names, store)
    : signed
}

/** The id in the path, in its stored form; a malformed one is a 400. */
export function requestedId(
  { model }: { readonly model: Pick<Model, 'idType'> },
  request: ApiRequest,
): string {
  const id = idFrom(request.params.id ?? '', model.idType)
  if (id === undefined) throw invalidId()
  return id
}

/** The filter for the record with `id`, if it lies within `scope`: a record out of scope is treated as missing. */
export function within(scope: Filter, id: string): Filter {
  return all([scope, withId(id)])
}
