/** `GET <mount>` and `QUERY <mount>`: both read the same list, from top to bottom. */

import type { Loaded } from '../../cache/cached.ts'
import { respondToRead } from '../../cache/conditional.ts'
import { readJson } from '../../http/body.ts'
import { notExported, queryNotJson } from '../../http/refusals.ts'
import type { ApiRequest } from '../../http/request.ts'
import { addVary, listJson } from '../../http/respond.ts'
import { all, everything } from '../../ports/filter.ts'
import type { Context, Handler } from '../engine/route.ts'
import { chosenView } from '../read/choice.ts'
import type { RespondFromCache } from '../read/read-cache.ts'
import { viewFor } from '../read/view.ts'
import { scopeOf } from '../rules/scope.ts'
import type { ListRules, Resource } from '../setup/resource.ts'
import type { Cursors } from './cursor.ts'
import { asksForGroups, parseGroups, readGroups } from './groups.ts'
import { positionOf, readPart, refusalOf } from './pages.ts'
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
  const load = async (request: ApiRequest, context: Context) =>
    readList(resource, cursors, await planOfUrl(resource, request), request, context)
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
    // Before the cache lookup: making a key of a large body takes time.
    const body = await readJson(request, resource.host, queryNotJson)
    const rules = resource.fieldsFor ? await rulesFor(resource, request) : resource
    const load = loaderOf(resource, rules, cursors, body, request, context)
    if (!cached) return respondToRead(request, await load())
    return cached(request, context, { kind: 'query', body }, load)
  }
}

/** The stream of a list, if `accept` prefers one to JSON. */
export type MaybeStream = (
  accept: string,
  request: ApiRequest,
  context: Context,
) => Promise<Response | undefined>

/**
 * `json`, for requests that accept JSON as well as a file or better; else the file of the list that `planOf` reads, or what
 * `follow` returns.
 */
export function orFile(
  resource: Resource,
  json: Handler,
  planOf: (request: ApiRequest) => Promise<ListPlan>,
  follow: MaybeStream,
): Handler {
  const { exportLimit, live } = resource
  const inOtherForm = async (accept: string, request: ApiRequest, context: Context) => {
    const stream = /event-stream/i.test(accept) ? await follow(accept, request, context) : undefined
    if (stream || !/csv|ndjson/i.test(accept)) return stream
    const files = await resource.host.parts.exports?.()
    return (files as typeof import('./export.ts') | undefined)?.fileOf(
      resource,
      accept,
      planOf,
      request,
      context,
    )
  }
  const varies = exportLimit > 0 || live
  return async (request, context) => {
    const accept = request.headers.get('accept')
    // Most requests name none of them.
    const isOther = accept !== null && /event-stream|csv|ndjson/i.test(accept)
    const other = isOther ? await inOtherForm(accept, request, context) : undefined
    if (other) return other
    const response = await json(request, context)
    if (varies && response instanceof Response) addVary(response, 'Accept')
    return response
  }
}

/** The list that a GET is for. */
export async function planOfUrl(resource: Resource, request: ApiRequest): Promise<ListPlan> {
  const rules = resource.fieldsFor ? await rulesFor(resource, request) : resource
  return parseUrl(rules, request.query)
}

/** The list that a QUERY is for. Groups are not there as a file. */
export async function planOfBody(resource: Resource, request: ApiRequest): Promise<ListPlan> {
  const body = await readJson(request, resource.host, queryNotJson)
  if (asksForGroups(body)) throw notExported()
  const rules = resource.fieldsFor ? await rulesFor(resource, request) : resource
  return parseQueryBody(rules, body)
}

/** Returns what reads the list, or the groups of it, that a body describes. Throws a 400 for what is not allowed. */
function loaderOf(
  resource: Resource,
  rules: ListRules,
  cursors: Cursors,
  body: unknown,
  request: ApiRequest,
  context: Context,
): () => Promise<Loaded> {
  if (asksForGroups(body)) {
    const groups = parseGroups(rules, body)
    return () => readGroups(resource, groups, request)
  }
  const plan = parseQueryBody(rules, body)
  return () => readList(resource, cursors, plan, request, context)
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
  const whole = fieldsFor || onGet ? await viewFor(resource, request, context) : plainView
  const view = choice ? await chosenView(resource, whole, choice, request) : whole
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
    throw refusalOf(error)
  }
}
