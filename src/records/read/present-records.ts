/**
 * What all reads share: the selection by `onGet`, and records as the JSON that is sent.
 *
 * @module
 */

import { HttpError } from '../../http/errors.ts'
import type { ApiRequest } from '../../http/request.ts'
import { idsOf } from '../../http/request-ids.ts'
import { MisusedRequest, shielded } from '../../http/shield.ts'
import { declaredPart, present, projected, visible } from '../../model/present.ts'
import type { Soon } from '../../ports/soon.ts'
import type { Fields, Projection, Read } from '../../ports/store.ts'
import { Turns } from '../../ports/turns.ts'
import { areLinksBelow, withLinksBelow } from '../../uploads/base-path.ts'
import { withSignedUrls } from '../../uploads/file-values.ts'
import { type ReadableFields, readableFields } from '../rules/fields-for.ts'
import type { OnGet } from '../rules/hooks.ts'
import type { Resource } from '../setup/resource.ts'
import type { Population } from './fill-in.ts'
import { hintsFor } from './hints.ts'
import { knownNames, unknownNames } from './known-names.ts'
import { names, populate, populations } from './populate.ts'
import { ResponseSize } from './response-size.ts'

/** How records are to be shown. */
export interface View {
  readonly select: Projection | undefined
  readonly populate: readonly Population[]
  /** False if `onGet` failed: the response is then not what was meant, so it is not kept. */
  readonly cacheable: boolean
}

/** Whether all requests see the same records in the same way. */
export function isSameForAll({ scope, fieldsFor, onGet }: Resource): boolean {
  return !scope.read && !fieldsFor && !onGet
}

/** How records are shown where neither the request nor `onGet` says otherwise. */
export function plainView({ select }: Resource): View {
  return { select, populate: [], cacheable: true }
}

/** Calls `onGet`. If it fails, the read goes on without populate and select (spec 4.1). */
export async function viewOf(resource: Resource, request: ApiRequest): Promise<View> {
  const { model, onGet } = resource
  const fields = await readableFields(resource, request)
  const plain = fields
    ? { select: visible(model, undefined, fields), populate: [], cacheable: true }
    : plainView(resource)
  return onGet ? chosenView(resource, onGet, request, fields, plain) : plain
}

async function chosenView(
  resource: Resource,
  onGet: OnGet,
  request: ApiRequest,
  fields: ReadableFields,
  plain: View,
): Promise<View> {
  const { host, model } = resource
  try {
    const options = (await shielded(request, () => onGet(request))) ?? {}
    const warn = unknownNames(resource)
    const select = knownNames(model, names(options.select ?? options.selects), warn)
    return {
      select: visible(model, select, fields),
      populate: populations(host, model, options.populate ?? options.populates, warn, fields),
      cacheable: true,
    }
  } catch (error) {
    // It may have meant to show less.
    if (error instanceof MisusedRequest) throw error
    host.logger.error(`Router '${resource.mount}': onGet failed, reading without it`, {
      ...idsOf(request),
      error: String((error as Error)?.stack ?? error),
    })
    return { ...plain, cacheable: false }
  }
}

/** A page of records, each as JSON. */
export interface Page {
  readonly texts: readonly string[]
  /** The same with stored URLs instead of links; undefined if links are what is stored. */
  readonly unsigned?: () => Promise<readonly string[]>
  /** Whether the store had more records than are shown. */
  readonly hasMore: boolean
  /** The id of the record at `index`. */
  idAt(index: number): string
}

/** Reads and presents the first `shown` records. Passes on the store's own JSON if nothing has to be changed. */
export function readAsJson(
  resource: Resource,
  view: View,
  read: Read,
  request: ApiRequest,
  shown: number = read.limit,
): Soon<Page> {
  const { engine, model, lean } = resource
  const query: Read = {
    ...read,
    ...(view.select && { select: view.select }),
    hints: hintsFor(resource.hints, request),
  }
  const links = changesLinks(resource, request)
  const unchanged =
    view.populate.length === 0 && !links && (lean || !model.output) && !model.convert
  if (!unchanged || !engine.stored.findJson) return presented(resource, view, query, request, shown)
  const page = (texts: readonly string[]): Page => ({
    texts: texts.length > shown ? texts.slice(0, shown) : texts,
    hasMore: texts.length > shown,
    idAt: (index) => idOf(texts[index]),
  })
  const found = engine.stored.findJson({ ...query, fillDefaults: !lean })
  return Array.isArray(found) ? page(found) : (found as Promise<readonly string[]>).then(page)
}

async function presented(
  resource: Resource,
  view: View,
  query: Read,
  request: ApiRequest,
  shown: number,
): Promise<Page> {
  const { engine, model, lean } = resource
  const all = await engine.stored.find(query)
  const found = all.slice(0, shown).map((record) => declaredPart(model, record, { ...view, lean }))
  const filled = await filledIn(resource, view, found, request)
  return {
    texts: await linkedTexts(resource, filled, request),
    ...(changesLinks(resource, request) && {
      unsigned: () => textsWithin(resource, filled),
    }),
    hasMore: all.length > shown,
    idAt: (index) => String(found[index]?._id),
  }
}

/**
 * A record that was just written, as the JSON that is sent: fields selected, references filled in, `output` applied. If
 * that is too large for a response, the references stay ids: the write has happened, so it must not fail.
 */
export async function presentAfterWrite(
  resource: Resource,
  view: View,
  whole: Fields,
  request: ApiRequest,
): Promise<string> {
  const chosen = projected(
    declaredPart(resource.model, whole, { lean: resource.lean }),
    view.select,
  )
  const filled = filledIn(resource, view, [chosen], request).catch((error: unknown) => {
    if (error instanceof HttpError && error.status === 413) return undefined
    throw error
  })
  const [record = chosen] = (await filled) ?? []
  const shown = await linked(resource, record, request)
  const text = textOf(resource, shown)
  const isTooLarge = record !== chosen && text.length > resource.maxResponseBytes
  return isTooLarge ? textOf(resource, await linked(resource, chosen, request)) : text
}

async function filledIn(
  { host, lean, hints, maxPopulated, maxResponseBytes }: Resource,
  view: View,
  chosen: readonly Fields[],
  request: ApiRequest,
): Promise<readonly Fields[]> {
  if (view.populate.length === 0) return chosen
  const options = {
    request,
    lean,
    hints: hintsFor(hints, request),
    maxPopulated,
    maxResponseBytes,
  }
  return populate(host, chosen, view.populate, options)
}

async function linkedTexts(
  resource: Resource,
  records: readonly Fields[],
  request: ApiRequest,
): Promise<string[]> {
  const shown = changesLinks(resource, request)
    ? await Promise.all(records.map((one) => linked(resource, one, request)))
    : records
  return textsWithin(resource, shown)
}

/** Each record's JSON, made one after the other until they are too large for a response. */
async function textsWithin(resource: Resource, records: readonly Fields[]): Promise<string[]> {
  const size = new ResponseSize(resource.maxResponseBytes)
  const turns = new Turns()
  const texts: string[] = []
  for (const record of records) {
    const text = textOf(resource, record)
    size.add(text.length)
    texts.push(text)
    const turn = turns.after(text.length)
    if (turn) await turn
  }
  return texts
}

function textOf({ model, lean }: Resource, record: Fields): string {
  return JSON.stringify(present(model, record, lean)) ?? 'null'
}

/** Whether responses show other links to files than records hold. */
function changesLinks({ upload, host, files }: Resource, request: ApiRequest): boolean {
  if (upload?.signUrls !== undefined) return true
  return files.names.length > 0 && areLinksBelow(request, host.files)
}

/** `record` with links to its files: signed, if the router's options ask for it, and below the path of the mount. */
export async function linked(
  { upload, host, cache, files }: Resource,
  record: Fields,
  request: ApiRequest,
): Promise<Fields> {
  const store = host.files
  if (!store) return record
  const signed = upload ? await withSignedUrls(upload, record, store, cache?.ttl) : record
  return areLinksBelow(request, store)
    ? withLinksBelow(request, signed, files.names, store)
    : signed
}

/** Stored JSON begins with `_id`, as the store port promises. */
function idOf(text = ''): string {
  return /^\{"_id":"([^"]*)"/.exec(text)?.[1] ?? ''
}
