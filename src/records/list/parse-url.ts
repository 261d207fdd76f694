/**
 * URL parameters → `ListPlan` (spec 4.1, "GET list parameters"). Pure; the order of the checks is the contract's.
 *
 * @module
 */

import { objectShaped, type Query } from '../../http/query-string.ts'
import {
  invalidCompareValue,
  invalidFilter,
  invalidRange,
  invalidValue,
  notFilterable,
  notSortable,
  searchNotString,
  searchTooLong,
  sortNotSingle,
  tooManyValues,
  unknownCompareOperator,
  usesCursors,
  usesPages,
} from '../../http/refusals.ts'
import { castScalar, numberFrom } from '../../model/cast.ts'
import { sortKey } from '../../model/define.ts'
import { all, type Filter, type Scalar, type SortKey } from '../../ports/filter.ts'
import { placeOf, type Shape } from '../../ports/shape.ts'
import { comparison, isCompareOperator, MAX_LIST } from '../engine/conditions.ts'
import type { FieldSet, Resource } from '../setup/resource.ts'
import { offsetPage, pageNumber, pageSize } from './pagination.ts'
import type { ListParameter, ListParameters } from './parameters.ts'
import type { ListPlan, Paging } from './plan.ts'

/** Object-shaped parameters that refuse with a sentence of their own. */
const OWN_SENTENCE: ReadonlySet<string> = new Set<ListParameter>([
  's',
  'search',
  'sort',
  'compareValue',
])

/** The list that a GET's parameters ask for. */
export function parseList(resource: Resource, query: Query): ListPlan {
  const shaped = objectShaped(query)
  const filter = all([
    ...equalities(resource, query, shaped),
    ...range(resource, query),
    ...compare(resource, query, shaped),
  ])
  const search = searchTerm(resource, query, shaped)
  return {
    filter,
    search,
    sort: sortOrder(resource, query, shaped),
    paging: paging(resource, query),
  }
}

/** A search term within its limit; an empty one is none. */
export function checkedTerm(resource: Resource, term: unknown): string | undefined {
  if (term === undefined || term === '') return undefined
  if (typeof term !== 'string') throw searchNotString()
  if (term.length > resource.maxSearchLength) throw searchTooLong(resource.maxSearchLength)
  return term
}

/** One sort key, if `sortable` has its field. */
export function allowedSortKey(sortable: FieldSet, text: string): SortKey {
  const key = sortKey(text)
  if (!sortable.has(key.field)) throw notSortable(key.field)
  return key
}

function equalities(resource: Resource, query: Query, shaped: ReadonlySet<string>): Filter[] {
  const listed = resource.query.flatMap((field): Filter[] => {
    if (shaped.has(field)) throw invalidFilter(field)
    const value = query[field]
    if (value === undefined) return []
    const shape = shapeAt(resource, field)
    if (typeof value === 'string') {
      return [{ op: 'eq', field, value: castText(field, shape, value) }]
    }
    if (value.length > MAX_LIST) throw tooManyValues(field, MAX_LIST)
    return [{ op: 'in', field, values: value.map((text) => castText(field, shape, text)) }]
  })
  for (const name of shaped) if (!OWN_SENTENCE.has(name)) throw invalidFilter(name)
  return listed
}

function range(resource: Resource, query: ListParameters): Filter[] {
  const { rangeField, range: bounds } = query
  if (!given(rangeField) || !given(bounds)) return []
  const field = filterableField(resource, rangeField)
  if (typeof bounds !== 'string') throw invalidRange()
  const shape = shapeAt(resource, field)
  const [low, high] = splitRange(bounds, shape)
  const bound = (op: 'gte' | 'lte', text: string): Filter[] => {
    if (text === '') return []
    const value = castScalar(shape, asNumber(shape, text))
    if (value === undefined) throw invalidRange()
    return [{ op, field, value }]
  }
  return [...bound('gte', low), ...bound('lte', high)]
}

/** The two bounds as text. Dates may also be written `from..to`, since ISO dates hold the hyphen. */
function splitRange(bounds: string, shape: Shape): readonly [string, string] {
  const dots = shape.kind === 'date' && bounds.includes('..')
  const [low, high, ...rest] = bounds.split(dots ? '..' : '-')
  if (low === undefined || high === undefined || rest.length > 0) throw invalidRange()
  const numeric = (text: string) => text === '' || numberFrom(text) !== undefined
  if (!dots && !(numeric(low) && numeric(high))) throw invalidRange()
  return [low, high]
}

function compare(resource: Resource, query: ListParameters, shaped: ReadonlySet<string>): Filter[] {
  const { compareField, compareOperator = '', compareValue } = query
  if (shaped.has('compareValue')) throw invalidCompareValue()
  if (!given(compareField) || compareValue === undefined) return []
  const field = filterableField(resource, compareField)
  const operator = compareOperator === '' ? 'eq' : String(compareOperator)
  if (!isCompareOperator(operator)) throw unknownCompareOperator(operator)
  if (typeof compareValue !== 'string') throw invalidCompareValue()
  const shape = shapeAt(resource, field)
  return [comparison(operator, field, castText(field, shape, asNumber(shape, compareValue)))]
}

/** Bounds and numeric-looking compare values are numbers (rule 1), unless the field's type says otherwise. */
function asNumber(shape: Shape, text: string): string | number {
  return shape.kind === 'mixed' ? (numberFrom(text) ?? text) : text
}

function searchTerm(
  resource: Resource,
  query: ListParameters,
  shaped: ReadonlySet<string>,
): string | undefined {
  if (shaped.has('s') || shaped.has('search')) throw searchNotString()
  return checkedTerm(resource, query.s ?? query.search)
}

function sortOrder(
  resource: Resource,
  query: ListParameters,
  shaped: ReadonlySet<string>,
): readonly SortKey[] {
  const { sort } = query
  if (shaped.has('sort') || (sort !== undefined && typeof sort !== 'string')) throw sortNotSingle()
  return given(sort) ? [allowedSortKey(resource.urlSortable, sort)] : []
}

function paging(resource: Resource, query: ListParameters): Paging {
  const { page, pageSize: size, cursor } = query
  if (resource.pagination === 'cursor') {
    if (given(page)) throw usesCursors()
    const token = given(cursor) ? String(cursor) : undefined
    return { kind: 'cursor', cursor: token, pageSize: pageSize(size, resource) }
  }
  if (given(cursor)) throw usesPages()
  if (!given(page)) return { kind: 'none', limit: unpagedLimit(resource) }
  return offsetPage(pageNumber(page), pageSize(size, resource), resource)
}

/** The most records of a list without pages; legacy mode lifts the cap, as 2.x had none. */
function unpagedLimit(resource: Resource): number {
  return resource.legacyMode ? Number.MAX_SAFE_INTEGER : resource.maxLimit
}

function filterableField(resource: Resource, name: string | string[]): string {
  const field = String(name)
  if (typeof name !== 'string' || !resource.urlFilterable.has(field)) throw notFilterable(field)
  return field
}

function castText(field: string, shape: Shape, text: string | number): Scalar {
  if (text === '' && shape.kind !== 'string') return null
  const value = castScalar(shape, text)
  if (value === undefined) throw invalidValue(field)
  return value
}

function shapeAt(resource: Resource, field: string): Shape {
  return placeOf(resource.model.shape, field)?.shape ?? { kind: 'mixed' }
}

function given(value: string | string[] | undefined): value is string | string[] {
  return value !== undefined && value !== ''
}
