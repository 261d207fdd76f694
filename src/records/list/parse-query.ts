/**
 * QUERY body → `ListPlan` (spec 4.1, "QUERY body"; RFC 10008). Pure.
 *
 * @module
 */

import {
  cursorNotString,
  limitAndPage,
  limitOnCursorServer,
  notPositiveInteger,
  queryNotObject,
  sortNotList,
  sortTooLong,
  unknownQueryKey,
  usesCursors,
  usesPages,
} from '../../http/refusals.ts'
import { isFields } from '../../model/writable.ts'
import { everything, type SortKey } from '../../ports/filter.ts'
import type { Fields } from '../../ports/store.ts'
import { parseConditions } from '../engine/conditions.ts'
import { withoutRepeats } from '../engine/sort.ts'
import type { Resource } from '../setup/resource.ts'
import { offsetPage } from './pagination.ts'
import { allowedSortKey, checkedTerm } from './parse-url.ts'
import type { ListPlan, Paging } from './plan.ts'

const KEYS = ['filter', 'search', 'sort', 'page', 'pageSize', 'limit', 'cursor']
const MAX_SORT_KEYS = 5

/** The list that a QUERY body asks for; no body is a plain list. */
export function parseQueryBody(resource: Resource, json: unknown): ListPlan {
  const body = json === undefined ? {} : json
  if (!isFields(body)) throw queryNotObject()
  for (const key of Object.keys(body)) {
    if (!KEYS.includes(key)) throw unknownQueryKey(key, KEYS)
  }
  const { filter } = body
  const mayFilter = (field: string) => !field.includes('.') && resource.filterable.has(field)
  return {
    filter: isAbsent(filter) ? everything : parseConditions(resource.model, filter, mayFilter),
    search: checkedTerm(resource, body.search ?? undefined),
    sort: sortOrder(resource, body.sort),
    paging: paging(resource, body),
  }
}

function sortOrder(resource: Resource, sort: unknown): readonly SortKey[] {
  if (isAbsent(sort)) return []
  const names: unknown[] = Array.isArray(sort) ? sort : [sort]
  const given = Array.isArray(sort) ? names : names.filter((name) => name !== '')
  const keys = given.map((name) => {
    if (typeof name !== 'string') throw sortNotList()
    return allowedSortKey(resource.sortable, name)
  })
  if (keys.length > MAX_SORT_KEYS) throw sortTooLong(MAX_SORT_KEYS)
  return withoutRepeats(keys)
}

function paging(resource: Resource, body: Fields): Paging {
  const page = positive(body, 'page')
  const pageSize = positive(body, 'pageSize')
  const limit = positive(body, 'limit')
  const cursor = cursorOf(body)
  if (limit !== undefined && (page !== undefined || pageSize !== undefined)) throw limitAndPage()
  const size = Math.min(pageSize ?? resource.defaultPageSize, resource.maxLimit)
  if (resource.pagination === 'cursor') {
    if (page !== undefined) throw usesCursors()
    if (limit !== undefined) throw limitOnCursorServer()
    return { kind: 'cursor', cursor, pageSize: size }
  }
  if (cursor !== undefined) throw usesPages()
  if (page !== undefined || pageSize !== undefined) return offsetPage(page ?? 1, size, resource)
  // Legacy mode lifts nothing here: there was no QUERY in 2.x.
  const most = resource.maxLimit
  return { kind: 'none', limit: Math.min(limit ?? most, most) }
}

function positive(body: Fields, key: 'page' | 'pageSize' | 'limit'): number | undefined {
  const value = body[key]
  if (isAbsent(value)) return undefined
  if (!Number.isInteger(value) || (value as number) < 1) throw notPositiveInteger(key)
  return value as number
}

function cursorOf(body: Fields): string | undefined {
  const { cursor } = body
  if (isAbsent(cursor) || cursor === '') return undefined
  if (typeof cursor !== 'string') throw cursorNotString()
  return cursor
}

function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null
}
