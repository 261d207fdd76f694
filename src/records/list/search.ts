/**
 * A search term as a filter: any of the search fields, here or through a reference (spec 4.1, rules 4 and 5).
 *
 * @module
 */

import { searchNotString, searchPatternInvalid, searchTooLong } from '../../http/refusals.ts'
import type { ApiRequest } from '../../http/request.ts'
import { all, any, everything, type Filter, nothing } from '../../ports/filter.ts'
import { InvalidPattern } from '../../ports/store.ts'
import { hintsFor } from '../read/hints.ts'
import { visibleThroughReference } from '../rules/scope.ts'
import type { ListRules, Resource } from '../setup/resource.ts'
import type { SearchField } from '../setup/search-fields.ts'
import type { Asked, ListPlan, UrlParameters } from './plan.ts'

/** `?s=` and its other name `?search=`; an empty term means no search. */
export function searchInUrl(rules: ListRules, { query, shaped }: UrlParameters): Asked {
  if (shaped.has('s') || shaped.has('search')) throw searchNotString()
  return searchInBody(rules, query.s ?? query.search)
}

/** `search` in a QUERY body. */
export function searchInBody({ maxSearchLength }: ListRules, term: unknown): Asked {
  if (term === '') return {}
  if (typeof term !== 'string') throw searchNotString()
  if (term.length > maxSearchLength) throw searchTooLong(maxSearchLength)
  return { search: term }
}

/** The records that the term finds. Without a term, or without search fields, it finds all of them. */
export async function searchFilter(
  resource: Resource,
  { search: term, searched }: Pick<ListPlan, 'search' | 'searched'>,
  request: ApiRequest,
): Promise<Filter> {
  if (term === undefined || searched.length === 0) return everything
  const clauses = await Promise.all(searched.map((field) => clause(resource, field, term, request)))
  return any(clauses)
}

/** Runs a read whose search term may be a pattern; a malformed pattern is a 400. */
export async function patternsChecked<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    throw error instanceof InvalidPattern ? searchPatternInvalid() : error
  }
}

async function clause(
  resource: Resource,
  field: SearchField,
  term: string,
  request: ApiRequest,
): Promise<Filter> {
  const matching = (path: string): Filter =>
    resource.allowRawRegex
      ? { op: 'matches', field: path, pattern: term }
      : { op: 'contains', field: path, text: term }
  if ('field' in field) return matching(field.field)
  const { host, maxRelationMatches, hints } = resource
  const target = field.target()
  const found = await host.engine(target).stored.find({
    filter: all([matching(field.path), await visibleThroughReference(host, target, request)]),
    sort: [{ field: '_id', descending: false }],
    limit: maxRelationMatches,
    select: { include: ['_id'] },
    hints: hintsFor(hints, request),
  })
  if (found.length === 0) return nothing
  if (found.length === maxRelationMatches) {
    host.logger.warn(
      `Router '${resource.mount}': a search through '${field.reference}' reached maxRelationMatches (${maxRelationMatches}); records may be missing from its result.`,
    )
  }
  return { op: 'in', field: field.reference, values: found.map((record) => String(record._id)) }
}
