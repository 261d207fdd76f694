/** A search term as a filter: any of the search fields, here or through a reference. */

import { hintsFor } from '../../http/deadline.ts'
import * as refuse from '../../http/errors/refusals.ts'
import type { ApiRequest } from '../../http/request/request.ts'
import { all, any, BY_ID, everything, type Filter, nothing } from '../../ports/store/filter.ts'
import { AnchorGone, InvalidPattern } from '../../ports/store/store-errors.ts'
import type { Host } from '../engine/host.ts'
import type { SearchField } from '../engine/models.ts'
import { visibleThroughReference } from '../rules/scope.ts'
import type { ListRules, Resource } from '../setup/resource.ts'
import type { ListPlan, ListRequest, UrlParameters } from './plan.ts'

/** `?s=` and its other name `?search=`; an empty term means no search. */
export function searchInUrl(rules: ListRules, { query, shaped }: UrlParameters): ListRequest {
  if (shaped.has('s') || shaped.has('search')) throw refuse.searchNotString()
  return searchInBody(rules, query.s ?? query.search)
}

export function searchInBody(
  { maxSearchLength }: Pick<ListRules, 'maxSearchLength'>,
  term: unknown,
): ListRequest {
  if (term === '') return {}
  if (typeof term !== 'string') throw refuse.searchNotString()
  if (term.length > maxSearchLength) throw refuse.searchTooLong(maxSearchLength)
  return { search: term }
}

interface SearchRules extends Pick<Resource, 'allowRawRegex' | 'maxRelationMatches' | 'hints'> {
  readonly host: Pick<Host, 'engine' | 'scopesOf' | 'logger'>
  /** Who warns of what is missing from the result. */
  readonly mount: string
}

/** The records that the term finds: all without a term or search fields. Without a request, no scope limits it. */
export async function searchFilter(
  rules: SearchRules,
  { search: term, searched }: Pick<ListPlan, 'search' | 'searched'>,
  request: ApiRequest | undefined,
): Promise<Filter> {
  if (term === undefined || searched.length === 0) return everything
  const matching = (path: string): Filter =>
    rules.allowRawRegex
      ? { op: 'matches', field: path, pattern: term }
      : { op: 'contains', field: path, text: term }
  const clauses = searched.map((field) =>
    'field' in field
      ? matching(field.field)
      : throughReference(rules, field, matching(field.path), request),
  )
  const [first = nothing, ...others] = await Promise.all(clauses)
  return others.length === 0 ? first : any([first, ...others])
}

/** The records that refer to one that matches. */
async function throughReference(
  { host, mount, maxRelationMatches, hints }: SearchRules,
  { reference, target }: Exclude<SearchField, { field: string }>,
  matching: Filter,
  request: ApiRequest | undefined,
): Promise<Filter> {
  const model = target()
  const found = await host.engine(model).stored.find({
    filter: request
      ? all([matching, await visibleThroughReference(host, model, request)])
      : matching,
    sort: BY_ID,
    limit: maxRelationMatches,
    select: { include: ['_id'] },
    hints: request ? hintsFor(hints, request) : hints,
  })
  if (found.length === 0) return nothing
  if (found.length === maxRelationMatches) {
    host.logger.warn(
      `Router '${mount}': a search through '${reference}' reached maxRelationMatches (${maxRelationMatches}); records may be missing from its result.`,
    )
  }
  return { op: 'in', field: reference, values: found.map((record) => String(record._id)) }
}

/** What the client is told if the store refuses what only it can judge. */
export function refusalOf(error: unknown): unknown {
  if (error instanceof InvalidPattern) return refuse.searchPatternInvalid()
  return error instanceof AnchorGone ? refuse.cursorAnchorGone() : error
}
