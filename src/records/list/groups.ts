/** A QUERY that asks for groups of records instead of the records. */

import type { Loaded } from '../../cache/cached.ts'
import { hintsFor } from '../../http/deadline.ts'
import { aggregateExcludes, groupsAlone, unknownQueryKey } from '../../http/errors/refusals.ts'
import type { ApiRequest } from '../../http/request/request.ts'
import { listJson } from '../../http/response/respond.ts'
import { isFields } from '../../model/writable.ts'
import { all, type Filter } from '../../ports/store/filter.ts'
import {
  type AggregatePlan,
  aggregateIn,
  groupOf,
  planAggregate,
} from '../engine/aggregate-plan.ts'
import { scopeOf } from '../rules/scope.ts'
import type { ListRules, Resource } from '../setup/resource.ts'
import { filterInBody } from './filters.ts'
import { BODY_KEYS, positiveInBody } from './parameters.ts'
import { refusalOf, searchFilter, searchInBody } from './search.ts'

/** The keys of a QUERY body that an aggregate takes. */
const TAKEN: readonly string[] = ['aggregate', 'by', 'filter', 'search', 'sort', 'limit']

type Body = Readonly<Record<string, unknown>>

export function asksForGroups(body: unknown): body is Body {
  return isFields(body) && ((body.aggregate ?? null) !== null || (body.by ?? null) !== null)
}

interface GroupsPlan extends AggregatePlan {
  readonly filter: Filter
  readonly search: string | undefined
  readonly searched: ListRules['search']
  readonly limit: number
}

/** The plan of a body. Throws a 400 for what is not allowed. */
export function parseGroups(rules: ListRules, body: Body): GroupsPlan {
  for (const key of Object.keys(body)) {
    if (!BODY_KEYS.includes(key)) throw unknownQueryKey(key, BODY_KEYS)
  }
  const given: Body = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null))
  const other = Object.keys(given).find((key) => !TAKEN.includes(key))
  if (other !== undefined) throw aggregateExcludes(other)
  const { aggregate, by, sort, filter, search = '', limit = rules.maxLimit } = given
  if (aggregate === undefined) throw groupsAlone()
  const { filters = [] } = filter === undefined ? {} : filterInBody(rules, filter)
  return {
    ...planAggregate({ aggregate, by, sort }, rules.aggregates),
    filter: all(filters),
    search: searchInBody(rules, search).search,
    searched: rules.search,
    limit: Math.min(positiveInBody('limit', limit), rules.maxLimit),
  }
}

/** The groups for a plan: of the records that a list would find for this request. */
export async function readGroups(
  resource: Resource,
  plan: GroupsPlan,
  request: ApiRequest,
): Promise<Loaded> {
  const { model, scope, engine, hints, maxResponseBytes } = resource
  const { by, measures, sort, limit } = plan
  const own = (await scopeOf(model, scope.read, request)).filter
  try {
    const filter = all([own, plan.filter, await searchFilter(resource, plan, request)])
    // One more, to know whether there are others.
    const read = { filter, by, measures, sort, limit: limit + 1, hints: hintsFor(hints, request) }
    const rows = await aggregateIn(engine.stored, read, model)
    const texts = rows.slice(0, limit).map((row) => JSON.stringify(groupOf(row, plan)))
    const pagination = { hasMore: rows.length > limit }
    return { body: listJson(texts, pagination, maxResponseBytes), cacheable: true }
  } catch (error) {
    throw refusalOf(error)
  }
}
