/**
 * The neutral filter as a MongoDB query. A client's values appear only where the query language takes a value, as
 * scalars; every key and operator comes from this code or the model.
 */

import type { Document } from 'mongodb'
import type { Filter, Scalar, SortKey } from '../../../../src/ports/store/filter.ts'
import type { ObjectShape, Place } from '../../../../src/ports/store/shape.ts'
import { type Bounds, boundsAfter, type Key, placeAt, stretchesBeyond } from '../../planner/seek.ts'
import { encode } from '../documents/documents.ts'
import { candidates, containsPattern } from '../search/grams.ts'

const NONE: Document = Object.freeze({ _id: { $in: [] } })

/** `filter` as a MongoDB query; `indexed` are the paths with a search index. */
export function compileFilter(
  filter: Filter,
  shape: ObjectShape,
  indexed: readonly string[] = [],
): Document {
  if ('filters' in filter) {
    const queries = filter.filters.map((one) => compileFilter(one, shape, indexed))
    return filter.op === 'and' ? every(queries) : some(queries)
  }
  const { op, field } = filter
  const at = { ...placeAt(field, shape), field }
  switch (op) {
    case 'eq':
      return among([filter.value], at)
    case 'ne':
      return { $nor: [among([filter.value], at)] }
    case 'in':
      return among(filter.values, at)
    case 'nin':
      return { $nor: [among(filter.values, at)] }
    case 'contains': {
      if (!filter.text.isWellFormed()) return NONE
      const condition = where({ $regex: containsPattern(filter.text) }, at)
      return every([...(indexed.includes(field) ? candidates(field, filter.text) : []), condition])
    }
    case 'matches':
      // A pattern is sent as a C string, which ends at NUL.
      return where({ $regex: filter.pattern.replaceAll('\0', '\\x00'), $options: 'i' }, at)
    default:
      // MongoDB's `gte null` matches null; here no range does.
      if (filter.value === null || !isStorable(filter.value)) return NONE
      return where({ [`$${op}`]: encode(filter.value, at.shape) }, at)
  }
}

export function directionOf({ descending }: Pick<SortKey, 'descending'>): 1 | -1 {
  return descending ? -1 : 1
}

/** Whether `filter` contains a client's regular expression, which may run for any length of time. */
export function hasPattern(filter: Filter): boolean {
  return 'filters' in filter ? filter.filters.some(hasPattern) : filter.op === 'matches'
}

/**
 * The documents of `query` that come after `position` in the order of `sort`.
 *
 * The disjunction is outermost, with the query in each of its parts: only then does the planner find bounds for each
 * part and merge their index scans. A page costs what it holds, however many records tie.
 */
export function restAfter(
  query: Document,
  sort: readonly SortKey[],
  position: readonly Scalar[],
  shape: ObjectShape,
): Document {
  const bounds = boundsAfter(sort, position, (field) => keyOf(field, shape)).map((one, at) => {
    const pattern: unknown = position[at]
    if (pattern instanceof RegExp) return afterPattern(sort[at] as SortKey, pattern)
    const condition = incomparable(sort[at], position[at] ?? null, shape)
    return condition ? { ...one, beyond: [...one.beyond, { condition }] } : one
  })
  const own = Object.keys(query).length > 0 ? [query] : []
  return some(stretchesBeyond(sort, bounds).map(({ conditions }) => every([...conditions, ...own])))
}

/** No condition but one on an expression compares with a regular expression; it knows all types in their order. */
function afterPattern({ field, descending }: SortKey, pattern: RegExp): Bounds<Document> {
  const compared = [`$${field}`, { $literal: pattern }]
  const condition = { $expr: { [descending ? '$lt' : '$gt']: compared } }
  return { ties: () => [{ [field]: { $eq: pattern } }], beyond: [{ condition }] }
}

function keyOf(field: string, shape: ObjectShape): Key<Document> {
  const compiled = (filter: Filter) => compileFilter(filter, shape)
  return {
    isNull: compiled({ op: 'eq', field, value: null }),
    isThere: compiled({ op: 'ne', field, value: null }),
    compare: (sign, value) => compiled({ op: OPS[sign], field, value }),
  }
}

/** In the order in which MongoDB sorts them. */
const TYPES = [
  ...['number', 'string', 'object', 'binData', 'objectId', 'bool', 'date', 'timestamp'],
  ...['regex', 'javascript', 'maxKey'],
]

/** What comes after a value and isn't found by comparing: NaN, or what is of another type, as an earlier model has stored it. */
function incomparable(
  { field, descending }: SortKey = { field: '_id', descending: false },
  value: Scalar,
  shape: ObjectShape,
): Document | undefined {
  if (value === null || field === '_id') return undefined
  const type = typeOf(encode(value, placeAt(field, shape).shape))
  // NaN sorts before all numbers, but no comparison finds it, or what comes after it.
  const isNone = type === 'number' && String(value) === 'NaN'
  if (isNone && !descending) return { $nor: [{ [field]: Number.NaN }, { [field]: null }] }
  // As a range: with the one for null, MongoDB would make a list of two values, which no index has in this order.
  if (type === 'number' && !isNone && descending) return { [field]: { $lte: Number.NaN } }
  const at = TYPES.indexOf(type)
  const later = descending ? TYPES.slice(0, at) : TYPES.slice(at + 1)
  return later.length > 0 ? { [field]: { $type: later } } : undefined
}

/** A string that is stored where the model has references, which are ObjectIds otherwise. */
export function asText(text: string): Scalar {
  return { toBSON: () => text } as never
}

function typeOf(value: unknown): string {
  if (value instanceof Date) return 'date'
  const { _bsontype: type = typeof value, toBSON } = Object(value)
  return toBSON ? 'string' : (TYPE_NAMES[type] ?? 'number')
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  ...{ ObjectId: 'objectId', Binary: 'binData', boolean: 'bool', Timestamp: 'timestamp' },
  ...{ string: 'string', object: 'object' },
}

const OPS = { '=': 'eq', '<': 'lt', '>': 'gt' } as const

type At = Place & { readonly field: string }

function among(values: readonly Scalar[], at: At): Document {
  const [first, ...others] = values.filter(isStorable).map((value) => encode(value, at.shape))
  if (first === undefined) return NONE
  const condition = others.length === 0 ? { $eq: first } : { $in: [first, ...others] }
  return some([where(condition, at), ...(values.includes(null) ? lackingElements(at) : [])])
}

/**
 * Null elements have nothing at a path through them, which MongoDB does not treat as null. A missing list has no
 * elements either, and `where` looks for one of them if the place is a `mixed` value.
 */
function lackingElements({ parts, shape: { kind } }: Place): Document[] {
  const lists = parts.slice(0, -1).map((_, at) => parts.slice(0, at + 1).join('.'))
  const absent = kind === 'mixed' ? lists.slice(-1).map((list) => ({ [list]: null })) : []
  return [...lists.map((list) => ({ [list]: { $elemMatch: { $eq: null } } })), ...absent]
}

/** `condition` at a place. A list in a `mixed` value is a value like any other: its elements do not count. */
function where(condition: Document, { field, parts, shape: { kind } }: At): Document {
  const last = parts.at(-1) ?? ''
  if (kind !== 'mixed' || last === '') return { [field]: condition }
  const scalar = { ...condition, $not: { $type: 'array' } }
  if (parts.length === 1) return { [field]: scalar }
  return { [parts.slice(0, -1).join('.')]: { $elemMatch: { [last]: scalar } } }
}

function every(queries: readonly Document[]): Document {
  const [only = {}] = queries
  return queries.length > 1 ? { $and: queries } : only
}

function some(queries: readonly Document[]): Document {
  const [only = NONE] = queries
  return queries.length > 1 ? { $or: queries } : only
}

/** BSON strings are UTF-8, which has no lone surrogates: such a string is never stored, and would be sent as another one. */
function isStorable(value: Scalar): boolean {
  return typeof value !== 'string' || value.isWellFormed()
}
