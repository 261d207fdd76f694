/**
 * `GET <mount>` and `QUERY <mount>`: both read the same list (spec 4.1).
 *
 * @module
 */

import type { Loaded } from '../../cache/cached.ts'
import { readResponse } from '../../cache/respond.ts'
import { readJson } from '../../http/body.ts'
import { cursorAnchorGone, invalidCursor, queryNotJson } from '../../http/refusals.ts'
import type { ApiRequest } from '../../http/request.ts'
import type { Pagination } from '../../http/respond.ts'
import { idFrom } from '../../model/cast.ts'
import { valueAt } from '../../model/value-at.ts'
import { all, type Filter, withId } from '../../ports/filter.ts'
import { AnchorGone, type Read } from '../../ports/store.ts'
import { totalOrder } from '../engine/sort.ts'
import { hintsFor } from '../read/hints.ts'
import { type Page, readAsJson, type View, viewOf } from '../read/present-records.ts'
import { listJsonWithin } from '../read/response-size.ts'
import { scopeOf } from '../rules/scope.ts'
import type { Resource } from '../setup/resource.ts'
import type { Cursors, Scan, ScanCursors } from './cursor.ts'
import { parseUrl } from './parse.ts'
import type { ListPlan, Paging } from './plan.ts'
import { rulesFor } from './rules-for.ts'
import { patternsChecked, searchFilter } from './search.ts'

/** The response to `GET <mount>`, without the response cache. */
export async function list(
  resource: Resource,
  cursors: Cursors,
  request: ApiRequest,
): Promise<Response> {
  return readResponse(request, await listed(resource, cursors, request))
}

/** `GET <mount>`. */
export async function listed(
  resource: Resource,
  cursors: Cursors,
  request: ApiRequest,
): Promise<Loaded> {
  const rules = await rulesFor(resource, request)
  return planned(resource, cursors, parseUrl(rules, request.query), request)
}

/** The body of a `QUERY <mount>` (RFC 10008); its URL's parameters are ignored. Throws a 415 for anything but JSON. */
export function queryBody(resource: Resource, request: ApiRequest): Promise<unknown> {
  return readJson(request, resource.host, queryNotJson)
}

/** The list for a plan. Everything that can be refused is refused before the store is called. */
export async function planned(
  resource: Resource,
  cursors: Cursors,
  plan: ListPlan,
  request: ApiRequest,
): Promise<Loaded> {
  const scope = (await scopeOf(resource.model, resource.scope.read, request)).filter
  const scan: Scan = {
    mount: resource.mount,
    filter: plan.filter,
    search: plan.search,
    scope,
    sort: totalOrder(plan.sort),
  }
  const tokens = cursors(scan)
  const anchorId = anchorOf(resource, tokens, plan.paging)
  const view = await viewOf(resource, request)
  const body = await patternsChecked(async () => {
    const search = await searchFilter(resource, plan, request)
    const filter = all([scope, plan.filter, search])
    const start = anchorId === undefined ? {} : await startAfter(resource, anchorId, scan)
    const read: Read = { filter, sort: scan.sort, limit: 0, ...start }
    switch (plan.paging.kind) {
      case 'none': {
        const { limit } = plan.paging
        const { texts } = await readAsJson(resource, view, { ...read, limit }, request)
        return listJsonWithin(resource.maxResponseBytes, texts)
      }
      case 'page':
        return offsetText(resource, view, read, plan.paging, request)
      case 'cursor': {
        const { pageSize } = plan.paging
        const page = pageAndMore(resource, view, read, pageSize, request)
        const { texts, hasMore, idAt } = await page.catch(refuseGone)
        const nextCursor = hasMore ? tokens.issue(idAt(pageSize - 1)) : null
        const pagination = { pageSize, hasMore, nextCursor }
        return listJsonWithin(resource.maxResponseBytes, texts, pagination)
      }
    }
  })
  return { body, cacheable: view.cacheable }
}

async function offsetText(
  resource: Resource,
  view: View,
  read: Read,
  { page, pageSize }: Paging & { kind: 'page' },
  request: ApiRequest,
): Promise<string> {
  const skip = (page - 1) * pageSize
  if (resource.countStrategy === 'none') {
    const { texts, hasMore } = await pageAndMore(
      resource,
      view,
      { ...read, skip },
      pageSize,
      request,
    )
    const pagination = { currentPage: page, pageSize, hasMore }
    return listJsonWithin(resource.maxResponseBytes, texts, pagination)
  }
  const [{ texts }, totalRecords] = await Promise.all([
    readAsJson(resource, view, { ...read, skip, limit: pageSize }, request),
    total(resource, read.filter, request),
  ])
  const pagination: Pagination = {
    currentPage: page,
    pageSize,
    totalPages: Math.ceil(totalRecords / pageSize),
    totalRecords,
  }
  return listJsonWithin(resource.maxResponseBytes, texts, pagination)
}

/** Reads one record more than the page, to know whether another page follows. */
async function pageAndMore(
  resource: Resource,
  view: View,
  read: Read,
  pageSize: number,
  request: ApiRequest,
): Promise<Page> {
  return readAsJson(resource, view, { ...read, limit: pageSize + 1 }, request, pageSize)
}

/** An estimate of a limited list would leak and mislead, so only an unlimited one is estimated. */
function total(resource: Resource, filter: Filter, request: ApiRequest): Promise<number> {
  const { stored } = resource.engine
  const unfiltered = filter.op === 'and' && filter.filters.length === 0
  return resource.countStrategy === 'estimated' && unfiltered
    ? stored.estimate()
    : stored.count(filter, hintsFor(resource.hints, request))
}

function anchorOf(resource: Resource, tokens: ScanCursors, paging: Paging): string | undefined {
  if (paging.kind !== 'cursor' || paging.cursor === undefined) return undefined
  const id = idFrom(tokens.read(paging.cursor), resource.model.idType)
  if (id === undefined) throw invalidCursor()
  return id
}

/** A store's word that the anchor has gone, as a 400. */
function refuseGone(error: unknown): never {
  throw error instanceof AnchorGone ? cursorAnchorGone() : error
}

/** Where the page starts: at the anchor's current position. The anchor must still exist within the scope. */
async function startAfter(
  { engine: { stored } }: Resource,
  id: string,
  { scope, sort }: Scan,
): Promise<Pick<Read, 'after' | 'afterRecord'>> {
  const filter = all([scope, withId(id)])
  if (stored.seeksRecords) return { afterRecord: filter }
  const select = { include: sort.map((key) => key.field) }
  const [anchor] = await stored.find({ filter, sort: [], limit: 1, select })
  if (!anchor) throw cursorAnchorGone()
  return { after: sort.map((key) => valueAt(anchor, key.field)) }
}
