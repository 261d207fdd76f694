/**
 * The parameters of lists, one row each (spec 4.1): what a URL and a QUERY body may say, and who takes it.
 *
 * A row is all that there is to a parameter: both parsers walk this table, and the names that no field in `query` can have
 * are read from it. In a URL every other name is a field's, or nobody's.
 *
 * @module
 */

import type { HttpError } from '../../http/errors.ts'
import type { Query } from '../../http/query-string.ts'
import { limitOnCursorServer, usesCursors, usesPages } from '../../http/refusals.ts'
import type { Fail } from '../../model/option-rules.ts'
import type { ListRules } from '../setup/resource.ts'
import { compareInUrl, filterInBody, rangeInUrl } from './filters.ts'
import { sortInBody, sortInUrl } from './order.ts'
import {
  cursorInBody,
  cursorInUrl,
  pageInUrl,
  pageSizeInUrl,
  positiveInBody,
} from './pagination.ts'
import type { Asked, UrlParameters } from './plan.ts'
import { searchInBody, searchInUrl } from './search.ts'

/** One parameter. */
export interface ListParameter {
  /** In a URL. */
  readonly name?: string
  /** In a QUERY body. */
  readonly key?: string
  /** The kind of pages that it belongs to, and what others answer. Without it every list takes it. */
  readonly pages?: { readonly kind: ListRules['pagination']; refusal(): HttpError }
  /** Whether it refuses brackets with a sentence of its own. */
  readonly refusesBrackets?: boolean
  /** Reads it from a URL that has it. A parameter without this is read by the one that it goes with. */
  fromUrl?(rules: ListRules, url: UrlParameters): Asked
  /** Reads it from a QUERY body, where it is neither null nor absent. */
  fromBody?(rules: ListRules, value: unknown): Asked
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
    pages: { kind: 'offset', refusal: usesCursors },
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
    pages: { kind: 'offset', refusal: limitOnCursorServer },
    fromBody: (_, value) => ({ limit: positiveInBody('limit', value) }),
  },
  {
    name: 'cursor',
    key: 'cursor',
    pages: { kind: 'cursor', refusal: usesPages },
    fromUrl: cursorInUrl,
    fromBody: cursorInBody,
  },
]

const names: ReadonlySet<string> = new Set(LIST_PARAMETERS.flatMap(({ name }) => name ?? []))

/** Refuses fields in `query` with the name of a parameter: it would never reach the field, and steer the list as well. */
export function checkEqualities(fields: readonly string[], fail: Fail): void {
  for (const field of fields) {
    if (!names.has(field)) continue
    fail(
      `'query' lists '${field}', but ?${field}= is a parameter of every list. Rename the field, or list it in 'filterableFields' for QUERY`,
    )
  }
}

/**
 * The parameters that a router reads of a list: those of the table, the fields in `equalities`, and names with a bracket,
 * which are refused. The others change no answer.
 */
export function readParameters(query: Query, equalities: readonly string[]): Query {
  const read: Record<string, Query[string]> = Object.create(null)
  for (const [name, value] of Object.entries(query)) {
    if (names.has(name) || equalities.includes(name) || name.includes('[')) read[name] = value
  }
  return read
}
