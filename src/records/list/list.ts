/**
 * `GET <mount>` and `QUERY <mount>`: both read the same list, from top to bottom.
 *
 * @module
 */

import type { Loaded } from '../../cache/cached.ts'
import { respondToRead } from '../../cache/conditional.ts'
import { readJson } from '../../http/body.ts'
import { cursorAnchorGone, queryNotJson, searchPatternInvalid } from '../../http/refusals.ts'
import type { ApiRequest } from '../../http/request.ts'
import { listJson } from '../../http/respond.ts'
import { all, everything } from '../../ports/filter.ts'
import { AnchorGone, InvalidPattern } from '../../ports/store.ts'
import type { Context, Handler } from '../engine/route.ts'
import type { RespondFromCache } from '../read/read-cache.ts'
import { viewFor } from '../read/view.ts'
import { scopeOf } from '../rules/scope.ts'
import type { Resource } from '../setup/resource.ts'
import type { Cursors } from './cursor.ts'
import { positionOf, readPart } from './pages.ts'
import { parseQueryBody, parseUrl } from './parse.ts'
import type { ListPlan } from './plan.ts'
import { rulesFor } from './rules-for.ts'
import { searchFilter } from './search.ts'

/** The handler of `GET <mount>`. */
export function listHandler(
  resource: Resource,
  cursors: Cursors,
  cached?: RespondFromCache,
): Handler {
  const load = async (request: ApiRequest, context: Context) => {
    const rules = resource.fieldsFor ? await rulesFor(resource, request) : resource
    return readList(resource, cursors, parseUrl(rules, request.query), request, context)
  }
  if (!cached)
    return async (request, context) => respondToRead(request, await load(request, context))
  return (request, context) =>
    cached(request, context, { kind: 'list' }, () => load(request, context))
}

/** The handler of `QUERY <mount>` (RFC 10008). Its body says what is listed; its URL's parameters are ignored. */
export function queryHandler(
  resource: Resource,
  cursors: Cursors,
  cached?: RespondFromCache,
): Handler {
  return async (request, context) => {
    const body = await readJson(request, resource.host, queryNotJson)
    // Before the cache lookup: making a key of a large body takes time.
    const rules = resource.fieldsFor ? await rulesFor(resource, request) : resource
    const plan = parseQueryBody(rules, body)
    const load = () => readList(resource, cursors, plan, request, context)
    if (!cached) return respondToRead(request, await load())
    return cached(request, context, { kind: 'query', body }, load)
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
  const { paging, sort } = plan
  // Whose records.
  const own = resource.scope.read
  const scope = own ? (await scopeOf(model, own, request)).filter : everything
  // From where on: throws a 400 for a cursor of another list.
  const scan = { ...plan, scope }
  const position = paging.kind === 'cursor' ? positionOf(resource, cursors, scan, paging) : paging
  // Which of their fields, and with which references filled in.
  const view = fieldsFor || onGet ? await viewFor(resource, request, context) : plainView
  try {
    // Which of them.
    const { search: term } = plan
    const search = term === undefined ? everything : await searchFilter(resource, plan, request)
    const isWhole = scope === everything && search === everything
    const filter = isWhole ? plan.filter : all([scope, plan.filter, search])
    const read = { filter, sort, limit: 0 }
    const { texts, pagination } = await readPart(resource, position, read, view, request)
    return { body: listJson(texts, pagination, maxResponseBytes), cacheable: view.cacheable }
  } catch (error) {
    if (error instanceof InvalidPattern) throw searchPatternInvalid()
    throw error instanceof AnchorGone ? cursorAnchorGone() : error
  }
}
