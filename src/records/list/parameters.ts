/**
 * The parameters of lists, one row each: their form in a URL and in a QUERY body, and which lists take them.
 *
 * A row is all there is to a parameter: both parsers walk this table, and the names that a field in `query` may not
 * have are read from it. Any other name in a URL is a field's, or is ignored.
 */

import type { HttpError } from '../../http/errors/errors.ts'
import * as refuse from '../../http/errors/refusals.ts'
import type { Query } from '../../http/request/request.ts'
import { sortKey } from '../../model/model.ts'
import type { Fail } from '../../model/option-rules.ts'
import { NUMBER } from '../../model/values/cast.ts'
import { type SortKey, withoutRepeats } from '../../ports/store/filter.ts'
import { namesInBody, namesInUrl } from '../read/choice.ts'
import type { FieldSet, ListRules } from '../setup/resource.ts'
import { compareInUrl, filterInBody, rangeInUrl } from './filters.ts'
import type { ListRequest, Paging, UrlParameters } from './plan.ts'
import { searchInBody, searchInUrl } from './search.ts'

type BothNames = 'search' | 'sort' | 'page' | 'pageSize' | 'cursor' | 'select' | 'expand'

export type UrlName =
  | BothNames
  | ('rangeField' | 'range')
  | ('compareField' | 'compareOperator' | 'compareValue')
  | 's'

export type BodyKey = BothNames | 'filter' | 'limit' | 'aggregate' | 'by'

export interface ListParameter {
  readonly name?: UrlName
  readonly key?: BodyKey
  /** The kind of pages that it belongs to, and the error of other routers. Without it every list takes it. */
  readonly pages?: { readonly kind: ListRules['pagination']; refusal(): HttpError }
  /** Whether it refuses brackets with an error message of its own. */
  readonly refusesBrackets?: boolean
  /** Reads it from a URL that has it. A parameter without this is read by the one that it belongs to. */
  fromUrl?(rules: ListRules, url: UrlParameters): ListRequest
  /** Reads it from a QUERY body in which it is neither null nor absent. */
  fromBody?(rules: ListRules, value: unknown): ListRequest
}

/** In the order in which they are checked. */
export const LIST_PARAMETERS: readonly ListParameter[] = [
  { key: 'filter', fromBody: filterInBody },
  { name: 'rangeField' },
  { name: 'range', fromUrl: rangeInUrl },
  { name: 'compareField' },
  { name: 'compareOperator' },
  { name: 'compareValue', refusesBrackets: true, fromUrl: compareInUrl },
  { name: 's', refusesBrackets: true, fromUrl: searchInUrl },
  {
    name: 'search',
    key: 'search',
    refusesBrackets: true,
    fromUrl: searchInUrl,
    fromBody: searchInBody,
  },
  { name: 'sort', key: 'sort', refusesBrackets: true, fromUrl: sortInUrl, fromBody: sortInBody },
  {
    name: 'page',
    key: 'page',
    pages: { kind: 'offset', refusal: refuse.usesCursors },
    fromUrl: pageInUrl,
    fromBody: (_, value) => ({ page: positiveInBody('page', value) }),
  },
  {
    name: 'pageSize',
    key: 'pageSize',
    fromUrl: pageSizeInUrl,
    fromBody: (_, value) => ({ pageSize: positiveInBody('pageSize', value) }),
  },
  {
    key: 'limit',
    pages: { kind: 'offset', refusal: refuse.limitOnCursorServer },
    fromBody: (_, value) => ({ limit: positiveInBody('limit', value) }),
  },
  {
    name: 'cursor',
    key: 'cursor',
    pages: { kind: 'cursor', refusal: refuse.usesPages },
    fromUrl: cursorInUrl,
    fromBody: cursorInBody,
  },
  names('select'),
  names('expand'),
  // A body with one of these asks for groups instead of records.
  { key: 'aggregate' },
  { key: 'by' },
]

/** A list of names, which a URL separates by commas. */
function names(name: 'select' | 'expand'): ListParameter {
  return {
    name,
    key: name,
    refusesBrackets: true,
    fromUrl: (_, { query, shaped }) =>
      namesInUrl(name, shaped.has(name) ? '' : (query[name] ?? '')),
    fromBody: (_, value) => namesInBody(name, value),
  }
}

export const BODY_KEYS: readonly string[] = LIST_PARAMETERS.flatMap(({ key }) => key ?? [])

const urlNames: ReadonlySet<string> = new Set<string>(
  LIST_PARAMETERS.flatMap(({ name }) => name ?? []),
)

/** Refuses fields in `query` named like a parameter, which would win, or with a bracket, which reads as an operator. */
export function checkEqualities(fields: readonly string[], fail: Fail): void {
  for (const field of fields) {
    if (field.indexOf('[') > 0) {
      fail(
        `'query' lists '${field}', but brackets in a URL are refused as operators. Rename the field, or list it in 'filterableFields' for QUERY`,
      )
    }
    if (!urlNames.has(field)) continue
    fail(
      `'query' lists '${field}', but ?${field}= is a parameter of every list. Rename the field, or list it in 'filterableFields' for QUERY`,
    )
  }
}

/** The parameters of a URL that change a response: the table's, those in `equalities`, and names with a bracket. */
export function readParameters(query: Query, equalities: readonly string[]): Query {
  const read: Record<string, Query[string]> = Object.create(null)
  for (const [name, value] of Object.entries(query)) {
    if (urlNames.has(name) || equalities.includes(name) || name.includes('[')) read[name] = value
  }
  return read
}

export const MAX_SORT_KEYS = 5

/** `?sort=`: one field. */
function sortInUrl(rules: ListRules, { query: { sort }, shaped }: UrlParameters): ListRequest {
  if (shaped.has('sort') || (sort !== undefined && typeof sort !== 'string'))
    throw refuse.sortNotSingle()
  return sort ? { sort: [allowedKey(rules.urlSortable, sort)] } : {}
}

/** `sort` in a QUERY body: one field, or a list of them. */
function sortInBody(rules: ListRules, sort: unknown): ListRequest {
  if (sort === '') return {}
  const names: unknown[] = Array.isArray(sort) ? sort : [sort]
  const keys = names.map((name) => {
    if (typeof name !== 'string') throw refuse.sortNotList()
    return allowedKey(rules.sortable, name)
  })
  if (keys.length > MAX_SORT_KEYS) throw refuse.sortTooLong(MAX_SORT_KEYS)
  return { sort: withoutRepeats(keys) }
}

function allowedKey(sortable: FieldSet, text: string): SortKey {
  const key = sortKey(text)
  if (!sortable.has(key.field)) throw refuse.notSortable(key.field)
  return key
}

/** An offset page; refused beyond `maxPage`, or if its offset is no longer an exact number. */
export function offsetPage(page: number, size: number, rules: ListRules): Paging {
  const deepest = Math.min(rules.maxPage, Math.floor(Number.MAX_SAFE_INTEGER / size))
  if (page > deepest) throw refuse.pageTooDeep(page, deepest)
  return { kind: 'page', page, pageSize: size }
}

/** `?page=`: anything that is not a number, or is below 1, is the first page. */
export function pageInUrl(_: ListRules, { query: { page } }: UrlParameters): ListRequest {
  return isGiven(page) ? { page: Math.max(1, wholeNumber(page) ?? 1) } : {}
}

/** `?pageSize=`: 0 or not a number is the default, a negative number is 1. Without pages it has no effect. */
export function pageSizeInUrl(
  { pagination }: ListRules,
  { query: { page, pageSize } }: UrlParameters,
): ListRequest {
  if (pagination === 'offset' && !isGiven(page)) return {}
  const size = wholeNumber(pageSize)
  return { pageSize: size ? Math.max(1, size) : undefined }
}

export function cursorInUrl(_: ListRules, { query: { cursor } }: UrlParameters): ListRequest {
  return isGiven(cursor) ? { cursor: String(cursor) } : {}
}

export function cursorInBody(_: ListRules, cursor: unknown): ListRequest {
  if (cursor === '') return {}
  if (typeof cursor !== 'string') throw refuse.cursorNotString()
  return { cursor }
}

/** A number in a QUERY body; it must be whole and at least 1. */
export function positiveInBody(key: 'page' | 'pageSize' | 'limit', value: unknown): number {
  if (!Number.isInteger(value) || (value as number) < 1) throw refuse.notPositiveInteger(key)
  return value as number
}

/** Whether a URL has a parameter: an empty one counts as absent. */
function isGiven(value: string | string[] | undefined): value is string | string[] {
  return value !== undefined && value !== ''
}

/** A number in a URL; infinite if it is too large. */
function wholeNumber(text: unknown): number | undefined {
  return typeof text === 'string' && NUMBER.test(text) ? Math.trunc(Number(text)) : undefined
}
