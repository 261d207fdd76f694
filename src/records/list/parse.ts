/**
 * URL parameters, or a QUERY body (RFC 10008) → `ListPlan` (spec 4.1). Pure; the contract fixes the order of the
 * checks.
 *
 * @module
 */

import { objectShaped, type Query } from '../../http/query-string.ts'
import {
  invalidFilter,
  limitAndPage,
  queryNotObject,
  unknownQueryKey,
} from '../../http/refusals.ts'
import { isFields } from '../../model/writable.ts'
import { all, type Filter } from '../../ports/filter.ts'
import type { ListRules } from '../setup/resource.ts'
import { equalitiesInUrl } from './filters.ts'
import { offsetPage } from './pagination.ts'
import { LIST_PARAMETERS } from './parameters.ts'
import type { Asked, ListPlan, Paging, UrlParameters } from './plan.ts'

const KEYS: readonly string[] = LIST_PARAMETERS.flatMap(({ key }) => key ?? [])

/** Object-shaped parameters with an error message of their own. */
const OWN_SENTENCE: ReadonlySet<string | undefined> = new Set(
  LIST_PARAMETERS.filter(({ refusesBrackets }) => refusesBrackets).map(({ name }) => name),
)

/** The list that a GET's parameters describe. */
export function parseUrl(rules: ListRules, query: Query): ListPlan {
  const url: UrlParameters = { query, shaped: objectShaped(query) }
  const filters = equalitiesInUrl(rules, url)
  for (const name of url.shaped) if (!OWN_SENTENCE.has(name)) throw invalidFilter(name)
  const asked: Asked = {}
  for (const { name, fromUrl } of LIST_PARAMETERS) {
    if (name === undefined || !fromUrl) continue
    if (query[name] === undefined && !url.shaped.has(name)) continue
    add(asked, filters, fromUrl(rules, url))
  }
  // Legacy mode lifts the cap on GET lists without pages, because 2.x had none.
  return planOf(rules, filters, asked, rules.legacyMode ? Number.MAX_SAFE_INTEGER : rules.maxLimit)
}

/** The list that a QUERY body describes; no body is a plain list. */
export function parseQueryBody(rules: ListRules, json: unknown): ListPlan {
  const body = json === undefined ? {} : json
  if (!isFields(body)) throw queryNotObject()
  for (const key of Object.keys(body)) {
    if (!KEYS.includes(key)) throw unknownQueryKey(key, KEYS)
  }
  const filters: Filter[] = []
  const asked: Asked = {}
  for (const { key, fromBody } of LIST_PARAMETERS) {
    if (key === undefined || !fromBody) continue
    const value = body[key]
    if (value !== undefined && value !== null) add(asked, filters, fromBody(rules, value))
  }
  return planOf(rules, filters, asked, rules.maxLimit)
}

function add(asked: Asked, filters: Filter[], more: Asked): void {
  if (more.filters) filters.push(...more.filters)
  else Object.assign(asked, more)
}

function planOf(rules: ListRules, filters: Filter[], asked: Asked, most: number): ListPlan {
  const { search, sort = [] } = asked
  return {
    filter: all(filters),
    search,
    searched: rules.search,
    sort: sort.length > 0 ? sort : rules.orderBy,
    paging: pagingOf(rules, asked, most),
  }
}

/** Refuses parameters of another kind of pages than the router's. */
function refuseOtherPages({ pagination }: ListRules, asked: Asked): void {
  for (const { key, pages } of LIST_PARAMETERS) {
    const isOther = pages !== undefined && pages.kind !== pagination
    if (isOther && asked[key as keyof Asked] !== undefined) throw pages.refusal()
  }
}

/** `most` is the number of records without pages. */
function pagingOf(rules: ListRules, asked: Asked, most: number): Paging {
  const { page, pageSize, limit, cursor } = asked
  if (limit !== undefined && (page !== undefined || pageSize !== undefined)) throw limitAndPage()
  refuseOtherPages(rules, asked)
  const size = Math.min(pageSize ?? rules.defaultPageSize, rules.maxLimit)
  if (rules.pagination === 'cursor') return { kind: 'cursor', cursor, pageSize: size }
  if (page !== undefined || pageSize !== undefined) return offsetPage(page ?? 1, size, rules)
  return { kind: 'none', limit: Math.min(limit ?? most, most) }
}
