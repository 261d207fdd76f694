/** URL parameters, or a QUERY body (RFC 10008) → `ListPlan`. The contract fixes the order of the checks. */

import { type BodyLimits, readJson } from '../../http/body/body.ts'
import * as refuse from '../../http/errors/refusals.ts'
import type { ApiRequest, Query } from '../../http/request/request.ts'
import { scalarIn } from '../../model/values/cast.ts'
import { isFields } from '../../model/writable.ts'
import { all, everything, type Filter, type Scalar, totalOrder } from '../../ports/store/filter.ts'
import { MAX_LIST } from '../engine/conditions.ts'
import { isReadable, readableFields } from '../rules/fields-for.ts'
import { targetOf } from '../setup/expandables.ts'
import type { FieldSet, ListRules, Resource } from '../setup/resource.ts'
import { BODY_KEYS, LIST_PARAMETERS, offsetPage } from './parameters.ts'
import type { ListPlan, ListRequest, Paging, UrlParameters } from './plan.ts'

/** Object-shaped parameters with an error message of their own. */
const OWN_SENTENCE: ReadonlySet<string | undefined> = new Set(
  LIST_PARAMETERS.filter(({ refusesBrackets }) => refusesBrackets).map(({ name }) => name),
)

/** The two ways in which a list is asked for: `GET <mount>` and `QUERY <mount>`. */
export type ListAction = 'list' | 'query'

/** The most bytes of the body of a live list, which is kept while that is followed. */
export const MOST_FOLLOWED = 65_536

/** What the body of a QUERY says; undefined of a GET. */
export async function bodyOf(
  { host }: { readonly host: BodyLimits },
  action: ListAction,
  request: ApiRequest,
): Promise<unknown> {
  return action === 'query' ? readJson(request, host, refuse.queryNotJson) : undefined
}

/** The list that a request asks for, of what it may see. `body` is that of a QUERY. */
export async function planFor(
  resource: Resource,
  action: ListAction,
  request: ApiRequest,
  body?: unknown,
): Promise<ListPlan> {
  const rules = await rulesFor(resource, request)
  return action === 'query' ? parseQueryBody(rules, body) : parseUrl(rules, request.query)
}

export function parseUrl(rules: ListRules, query: Query): ListPlan {
  const url: UrlParameters = { query, shaped: namesBeforeBrackets(query) }
  const filters = equalitiesInUrl(rules, url)
  for (const name of url.shaped) if (!OWN_SENTENCE.has(name)) throw refuse.invalidFilter(name)
  const requested: ListRequest = {}
  for (const { name, fromUrl } of LIST_PARAMETERS) {
    if (name === undefined || !fromUrl) continue
    if (query[name] === undefined && !url.shaped.has(name)) continue
    const { filters: more = [], ...others } = fromUrl(rules, url)
    filters.push(...more)
    Object.assign(requested, others)
  }
  // Legacy mode lifts the cap on GET lists without pages, because 2.x had none.
  const maxLimit = rules.legacyMode ? Number.MAX_SAFE_INTEGER : rules.maxLimit
  return planOf(rules, filters, requested, maxLimit)
}

/** `?<field>=` of the fields in `query`. */
function equalitiesInUrl(
  { equalities }: Pick<ListRules, 'equalities'>,
  { query, shaped }: UrlParameters,
): Filter[] {
  const filters: Filter[] = []
  for (const { field, shape } of equalities) {
    if (shaped.has(field)) throw refuse.invalidFilter(field)
    const value = query[field]
    if (value === undefined) continue
    const isOne = typeof value === 'string'
    if (!isOne && value.length > MAX_LIST) throw refuse.tooManyValues(field, MAX_LIST)
    const values = [value].flat().map((text) => scalarIn(shape, text))
    if (values.includes(undefined)) throw refuse.invalidValue(field)
    const [first = null] = values
    filters.push(
      isOne ? { op: 'eq', field, value: first } : { op: 'in', field, values: values as Scalar[] },
    )
  }
  return filters
}

/** The names before a bracket, as in `price[$ne]=0` and `price[]=0`. */
function namesBeforeBrackets(query: Query): ReadonlySet<string> {
  const names = new Set<string>()
  for (const name in query) {
    const bracket = name.indexOf('[')
    if (bracket > 0) names.add(name.slice(0, bracket))
  }
  return names
}

/** The list that a QUERY body describes; no body is a plain list. */
function parseQueryBody(rules: ListRules, json: unknown): ListPlan {
  const body = json === undefined ? {} : json
  if (!isFields(body)) throw refuse.queryNotObject()
  for (const key of Object.keys(body)) {
    if (!BODY_KEYS.includes(key)) throw refuse.unknownQueryKey(key, BODY_KEYS)
  }
  const filters: Filter[] = []
  const requested: ListRequest = {}
  for (const { key, fromBody } of LIST_PARAMETERS) {
    if (key === undefined || !fromBody) continue
    const value = body[key]
    if (value === undefined || value === null) continue
    const { filters: more = [], ...others } = fromBody(rules, value)
    filters.push(...more)
    Object.assign(requested, others)
  }
  return planOf(rules, filters, requested, rules.maxLimit)
}

/** `maxLimit` is the number of records without pages. */
function planOf(
  rules: ListRules,
  filters: Filter[],
  requested: ListRequest,
  maxLimit: number,
): ListPlan {
  const { search, sort = [], select, expand, page, pageSize, limit, cursor } = requested
  const choice = select || expand ? { select, expand } : undefined
  const isPart = (page ?? pageSize ?? limit ?? cursor) !== undefined
  const paging = pagingOf(rules, requested, maxLimit)
  const order = sort.length > 0 ? totalOrder(sort) : rules.order
  const filter = filters.length === 0 ? everything : all(filters)
  return { filter, search, searched: rules.search, sort: order, paging, choice, isPart }
}

function pagingOf(rules: ListRules, requested: ListRequest, maxLimit: number): Paging {
  const { page, pageSize, limit, cursor } = requested
  const isPaged = page !== undefined || pageSize !== undefined
  if (limit !== undefined && isPaged) throw refuse.limitAndPage()
  refuseOtherPages(rules, requested)
  const size = Math.min(pageSize ?? rules.defaultPageSize, rules.maxLimit)
  if (rules.pagination === 'cursor') return { kind: 'cursor', cursor, pageSize: size }
  if (isPaged) return offsetPage(page ?? 1, size, rules)
  return { kind: 'none', limit: Math.min(limit ?? maxLimit, maxLimit) }
}

function refuseOtherPages({ pagination }: ListRules, requested: ListRequest): void {
  for (const { key, pages } of LIST_PARAMETERS) {
    if (!pages || pages.kind === pagination) continue
    if (requested[key as keyof ListRequest] !== undefined) throw pages.refusal()
  }
}

/** The rules of `resource` for `request`. Fields that it may not see count as not listed, in the default order too. */
export async function rulesFor(resource: Resource, request: ApiRequest): Promise<Resource> {
  const { host, model } = resource
  const fields = await readableFields(resource, request)
  if (!fields) return resource
  const sees = (path: string) => isReadable(fields, path)
  const seenIn = (names: ReadonlySet<string>) => new Set([...names].filter(sees))
  const seen = (names: FieldSet): FieldSet => ({ has: (name) => sees(name) && names.has(name) })
  const { by, of } = resource.aggregates
  const orderBy = resource.orderBy.filter(({ field }) => sees(field))
  return {
    ...resource,
    query: resource.query.filter(sees),
    equalities: resource.equalities.filter(({ field }) => sees(field)),
    filterable: seenIn(resource.filterable),
    sortable: seenIn(resource.sortable),
    urlFilterable: seen(resource.urlFilterable),
    urlSortable: seen(resource.urlSortable),
    aggregates: {
      by: new Map([...by].filter(([, { field }]) => sees(field))),
      of: new Map([...of].filter(([field]) => sees(field))),
    },
    orderBy,
    order: totalOrder(orderBy),
    search: resource.search.filter((one) => {
      if ('field' in one) return sees(one.field)
      return sees(one.reference) && (one.target() !== model || sees(one.path))
    }),
    expandable: new Map(
      [...resource.expandable].filter(([, { path, inner = '_id' }]) => {
        return sees(path) && (targetOf(host, model, path) !== model || sees(inner))
      }),
    ),
  }
}
