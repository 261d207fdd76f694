/** `GET <mount>` and `QUERY <mount>`: both read the same list, from top to bottom. */

import type { Loaded } from '../../cache/cached.ts'
import { respondToRead } from '../../cache/conditional.ts'
import { hintsFor } from '../../http/deadline.ts'
import { cursorAnchorGone, invalidCursor } from '../../http/errors/refusals.ts'
import type { ApiRequest } from '../../http/request/request.ts'
import { addVary, isResponse, listJson, type Pagination } from '../../http/response/respond.ts'
import { valueAt } from '../../model/model.ts'
import { idFrom } from '../../model/values/cast.ts'
import type { MaybePromise } from '../../ports/promises/maybe-promise.ts'
import { all, everything, type Filter, withId } from '../../ports/store/filter.ts'
import type { Read } from '../../ports/store/records.ts'
import type { Context, Handler } from '../engine/route.ts'
import { type Reading, readPage } from '../read/read.ts'
import type { RespondFromCache } from '../read/read-cache.ts'
import { viewFor } from '../read/view.ts'
import { scopeOf } from '../rules/scope.ts'
import type { Resource } from '../setup/resource.ts'
import type { Cursors, Scan, ScanCursors } from './cursor.ts'
import { asksForGroups, parseGroups, readGroups } from './groups.ts'
import { bodyOf, type ListAction, parseUrl, planFor, rulesFor } from './parse.ts'
import type { ListPlan, Paging } from './plan.ts'
import { refusalOf, searchFilter } from './search.ts'

/** The handler of a list. The body of a QUERY (RFC 10008) says what is listed; the parameters of its URL are ignored. */
export function listHandler(
  resource: Resource,
  action: ListAction,
  cursors: Cursors,
  cached?: RespondFromCache,
): Handler {
  if (action === 'list') {
    const load = async (request: ApiRequest, context: Context) => {
      const plan = resource.fieldsFor
        ? await planFor(resource, action, request)
        : parseUrl(resource, request.query)
      return readList(resource, cursors, plan, request, context)
    }
    if (!cached) {
      return async (request, context) => respondToRead(request, await load(request, context))
    }
    return (request, context) =>
      cached(request, context, { kind: 'list' }, () => load(request, context))
  }
  return async (request, context) => {
    // Before the cache lookup: making a key of a large body takes time.
    const body = await bodyOf(resource, action, request)
    const load = await loaderOf(resource, cursors, body, request, context)
    if (!cached) return respondToRead(request, await load())
    return cached(request, context, { kind: 'query', body }, load)
  }
}

/** Returns what reads the list, or the groups of it, that a body describes. Throws a 400 for what is not allowed. */
async function loaderOf(
  resource: Resource,
  cursors: Cursors,
  body: unknown,
  request: ApiRequest,
  context: Context,
): Promise<() => Promise<Loaded>> {
  if (asksForGroups(body)) {
    const groups = parseGroups(await rulesFor(resource, request), body)
    return () => readGroups(resource, groups, request)
  }
  const plan = await planFor(resource, 'query', request, body)
  return () => readList(resource, cursors, plan, request, context)
}

/** A list as a stream or a file, if `accept` prefers one to JSON. */
export type OtherForm = (
  accept: string,
  request: ApiRequest,
  context: Context,
) => Promise<Response | undefined>

/** `json`, for requests that accept JSON as well as another form or better; else what `inOtherForm` returns. */
export function orOther(
  { exportLimit, live }: Resource,
  json: Handler,
  inOtherForm: OtherForm,
): Handler {
  const varies = exportLimit > 0 || live
  return async (request, context) => {
    const accept = request.headers.get('accept')
    // Most requests name none of them.
    const isOther = accept !== null && /event-stream|csv|ndjson/i.test(accept)
    const other = isOther ? await inOtherForm(accept, request, context) : undefined
    if (other) return other
    const response = await json(request, context)
    if (varies && isResponse(response)) addVary(response, 'Accept')
    return response
  }
}

/** The list for a plan. Everything that can be refused is refused before the store is called. */
async function readList(
  resource: Resource,
  cursors: Cursors,
  plan: ListPlan,
  request: ApiRequest,
  context: Context,
): Promise<Loaded> {
  const { model, fieldsFor, onGet, plainView, maxResponseBytes } = resource
  const { paging, sort, choice } = plan
  // Whose records.
  const own = resource.scope.read
  const scope = own ? (await scopeOf(model, own, request)).filter : everything
  // From where on: throws a 400 for a cursor of another list.
  const scan = { ...plan, scope }
  const position = paging.kind === 'cursor' ? positionOf(resource, cursors, scan, paging) : paging
  // Which of their fields, and with which references filled in.
  const isPlain = !fieldsFor && !onGet && !choice
  const view = isPlain ? plainView : await viewFor(resource, request, context, choice)
  try {
    // Which of them.
    const { search: term } = plan
    const search = term === undefined ? everything : await searchFilter(resource, plan, request)
    const isFound = scope === everything && plan.filter === everything
    const isWhole = scope === everything && search === everything
    const filter = isWhole ? plan.filter : isFound ? search : all([scope, plan.filter, search])
    const read = { filter, sort, limit: 0 }
    const { texts, pagination } = await readPart({ resource, view, request }, position, read)
    return { body: listJson(texts, pagination, maxResponseBytes), cacheable: view.cacheable }
  } catch (error) {
    throw refusalOf(error)
  }
}

/** The records of one page, each as JSON. */
export interface ListPage {
  readonly texts: readonly string[]
  /** Undefined for a list without pages. */
  readonly pagination?: Pagination
}

/** The part of a list that was asked for: up to its limit, the page with a number, or the one after a cursor. */
export function readPart(
  reading: Reading,
  part: Exclude<Paging, { kind: 'cursor' }> | Position,
  list: Read,
): MaybePromise<ListPage> {
  if ('tokens' in part) return readByCursor(reading, part, list)
  if (part.kind === 'page') return readByNumber(reading, part, list)
  return readPage(reading, { ...list, limit: part.limit })
}

async function readByNumber(
  reading: Reading,
  { page, pageSize }: Paging & { kind: 'page' },
  list: Read,
): Promise<ListPage> {
  const read = { ...list, skip: (page - 1) * pageSize, limit: pageSize }
  const { engine, hints, countStrategy } = reading.resource
  if (countStrategy === 'none') {
    // One more than the page, to know whether another one follows.
    const more = { ...read, limit: pageSize + 1 }
    const { texts, hasMore } = await readPage(reading, more, pageSize)
    return { texts, pagination: { currentPage: page, pageSize, hasMore } }
  }
  const { filter } = list
  // An estimate of a limited list would leak and mislead, so only an unlimited one is estimated.
  const isUnlimited = filter.op === 'and' && filter.filters.length === 0
  const [{ texts }, totalRecords] = await Promise.all([
    readPage(reading, read),
    countStrategy === 'estimated' && isUnlimited
      ? engine.stored.estimate()
      : engine.stored.count(filter, hintsFor(hints, reading.request)),
  ])
  const totalPages = Math.ceil(totalRecords / pageSize)
  return { texts, pagination: { currentPage: page, pageSize, totalPages, totalRecords } }
}

/** Where a page by cursor begins. */
export interface Position {
  readonly pageSize: number
  /** The id of the record that it comes after; undefined for the first page. */
  readonly anchorId: string | undefined
  readonly scope: Filter
  readonly tokens: ScanCursors
}

/** Throws a 400 if the cursor is forged, or belongs to another list. */
export function positionOf(
  { mount, model }: Pick<Resource, 'mount' | 'model'>,
  cursors: Cursors,
  scan: Omit<Scan, 'mount'>,
  { cursor, pageSize }: Paging & { kind: 'cursor' },
): Position {
  const { scope } = scan
  const tokens = cursors({ ...scan, mount })
  if (cursor === undefined) return { pageSize, anchorId: undefined, scope, tokens }
  const anchorId = idFrom(tokens.read(cursor), model.idType)
  if (anchorId === undefined) throw invalidCursor()
  return { pageSize, anchorId, scope, tokens }
}

async function readByCursor(reading: Reading, position: Position, list: Read): Promise<ListPage> {
  const { pageSize, tokens } = position
  const start = position.anchorId === undefined ? {} : await startAfter(reading, position, list)
  // One more than the page, to know whether another one follows.
  const read = { ...list, ...start, limit: pageSize + 1 }
  const { texts, hasMore, lastId } = await readPage(reading, read, pageSize)
  const nextCursor = hasMore ? tokens.issue(lastId()) : null
  return { texts, pagination: { pageSize, hasMore, nextCursor } }
}

/** The anchor's current place in the order. The anchor must still exist within the scope. */
async function startAfter(
  { resource }: Reading,
  { anchorId = '', scope }: Position,
  { sort }: Read,
): Promise<Pick<Read, 'after' | 'afterRecord'>> {
  const { stored } = resource.engine
  const filter = all([scope, withId(anchorId)])
  if (stored.seeksRecords) return { afterRecord: filter }
  const select = { include: sort.map((key) => key.field) }
  const [anchor] = await stored.find({ filter, sort: [], limit: 1, select })
  if (!anchor) throw cursorAnchorGone()
  return { after: sort.map((key) => valueAt(anchor, key.field)) }
}
