/**
 * What every read has in common: the choice of `onGet`, and records as the JSON texts that are sent.
 *
 * @module
 */

import type { ApiRequest } from '../http/request.ts'
import { declaredPart, present, projected, visible } from '../model/present.ts'
import type { Fields, Projection, Read } from '../ports/store.ts'
import { withSignedUrls } from '../uploads/file-values.ts'
import { knownNames, unknownNames } from './known-names.ts'
import { names, type Population, populate, populations } from './populate.ts'
import type { Resource } from './resource.ts'

/** How records are to be shown. */
export interface View {
  readonly select: Projection | undefined
  readonly populate: readonly Population[]
  /** False when `onGet` failed: what is shown then is not what was meant, so it is not kept. */
  readonly cacheable: boolean
}

/** Asks `onGet`. If it fails, the read goes on without populate and select (spec 4.1). */
export async function viewOf(resource: Resource, request: ApiRequest): Promise<View> {
  const { host, model, onGet } = resource
  const plain = { select: visible(model), populate: [], cacheable: true }
  if (!onGet) return plain
  try {
    const options = (await onGet(request)) ?? {}
    const warn = unknownNames(resource)
    const select = knownNames(model, names(options.select ?? options.selects), warn)
    return {
      select: visible(model, select),
      populate: populations(host, model, options.populate ?? options.populates, warn),
      cacheable: true,
    }
  } catch (error) {
    host.logger.error(`Router '${resource.mount}': onGet failed, reading without it`, {
      requestId: request.requestId,
      error: String((error as Error)?.stack ?? error),
    })
    return { ...plain, cacheable: false }
  }
}

/** A page of records as JSON texts. */
export interface Page {
  readonly texts: readonly string[]
  /** The same with stored URLs in place of signed links; undefined where none are signed. */
  readonly unsigned?: () => readonly string[]
  /** The id of the record at `index`. */
  idAt(index: number): string
}

/** Reads and presents; passes the store's own JSON through where nothing has to be changed. */
export async function readTexts(
  resource: Resource,
  view: View,
  read: Read,
  request: ApiRequest,
): Promise<Page> {
  const { records, model, lean } = resource
  const query: Read = {
    ...read,
    ...(view.select && { select: view.select }),
    hints: resource.hints,
  }
  const signs = resource.upload?.signUrls !== undefined
  const unchanged = view.populate.length === 0 && !signs && (lean || !model.output)
  if (unchanged && records.stored.findJson) {
    const texts = await records.stored.findJson(query)
    return { texts, idAt: (index) => idOf(texts[index]) }
  }
  const found = (await records.stored.find(query)).map((record) => declaredPart(model, record))
  const filled = await filledIn(resource, view, found, request)
  return {
    texts: await signedTexts(resource, filled),
    ...(signs && { unsigned: () => filled.map((record) => textOf(resource, record)) }),
    idAt: (index) => String(found[index]?._id),
  }
}

/** Whole records as the JSON texts that are sent: fields chosen, references filled in, `output` applied. */
export async function presentTexts(
  resource: Resource,
  view: View,
  whole: readonly Fields[],
  request: ApiRequest,
): Promise<string[]> {
  const chosen = whole.map((record) => projected(declaredPart(resource.model, record), view.select))
  return signedTexts(resource, await filledIn(resource, view, chosen, request))
}

async function filledIn(
  { host, lean, hints }: Resource,
  view: View,
  chosen: readonly Fields[],
  request: ApiRequest,
): Promise<readonly Fields[]> {
  if (view.populate.length === 0) return chosen
  return populate(host, chosen, view.populate, { request, lean, hints })
}

async function signedTexts(resource: Resource, records: readonly Fields[]): Promise<string[]> {
  const signs = resource.upload?.signUrls !== undefined
  const shown = signs ? await Promise.all(records.map((one) => signed(resource, one))) : records
  return shown.map((record) => textOf(resource, record))
}

function textOf({ model, lean }: Resource, record: Fields): string {
  return JSON.stringify(present(model, record, lean)) ?? 'null'
}

/** `record` with signed links to its private files, where the router asks for them. */
export async function signed(resource: Resource, record: Fields): Promise<Fields> {
  const { upload, host, cache } = resource
  return upload && host.files ? withSignedUrls(upload, record, host.files, cache?.ttl) : record
}

/** A stored JSON text begins with its `_id`, as the store port promises. */
function idOf(text = ''): string {
  return /^\{"_id":"([^"]*)"/.exec(text)?.[1] ?? ''
}
