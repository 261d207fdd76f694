/**
 * The neutral filter as a MongoDB query. A client's values appear only where the query language takes a value, as
 * scalars; every key and operator comes from this code or the model.
 *
 * @module
 */

import type { Document } from 'mongodb'
import type { Filter, Scalar } from '../../../../src/ports/filter.ts'
import { type ObjectShape, type Place, placeOf } from '../../../../src/ports/shape.ts'
import { encode } from '../documents/documents.ts'
import { containsPattern } from '../search/contains.ts'
import { candidates } from '../search/grams.ts'

/** A query that no document matches. */
const NONE: Document = Object.freeze({ _id: { $in: [] } })

/** `filter` as a MongoDB query; `indexed` are the paths with a search index. */
export function compileFilter(
  filter: Filter,
  shape: ObjectShape,
  indexed: readonly string[] = [],
): Document {
  switch (filter.op) {
    case 'and':
      return every(filter.filters.map((one) => compileFilter(one, shape, indexed)))
    case 'or':
      return some(filter.filters.map((one) => compileFilter(one, shape, indexed)))
    case 'eq':
      return among(filter.field, [filter.value], shape)
    case 'ne':
      return not(among(filter.field, [filter.value], shape))
    case 'in':
      return among(filter.field, filter.values, shape)
    case 'nin':
      return not(among(filter.field, filter.values, shape))
    case 'contains':
      if (!filter.text.isWellFormed()) return NONE
      return every([
        ...(indexed.includes(filter.field) ? candidates(filter.field, filter.text) : []),
        where(filter.field, { $regex: containsPattern(filter.text) }, shape),
      ])
    case 'matches':
      return where(filter.field, { $regex: withoutNul(filter.pattern), $options: 'i' }, shape)
    default:
      return compare(filter.op, filter.field, filter.value, shape)
  }
}

/** Whether `filter` contains a client's regular expression, which may run for any length of time. */
export function hasPattern(filter: Filter): boolean {
  if (filter.op === 'and' || filter.op === 'or') return filter.filters.some(hasPattern)
  return filter.op === 'matches'
}

function compare(
  op: 'gt' | 'gte' | 'lt' | 'lte',
  field: string,
  value: Scalar,
  shape: ObjectShape,
): Document {
  // MongoDB's `gte null` matches null; here no range does.
  if (value === null || isUnstorable(value)) return NONE
  return where(field, { [`$${op}`]: encode(value, placeAt(field, shape).shape) }, shape)
}

function among(field: string, values: readonly Scalar[], shape: ObjectShape): Document {
  const { shape: element } = placeAt(field, shape)
  const [first, ...others] = values
    .filter((value) => !isUnstorable(value))
    .map((value) => encode(value, element))
  if (first === undefined) return NONE
  const condition = others.length === 0 ? { $eq: first } : { $in: [first, ...others] }
  const lacking = values.includes(null) ? lackingElements(field, shape) : []
  return some([where(field, condition, shape), ...lacking])
}

/**
 * Null elements have nothing at a path through them, which MongoDB does not treat as null. A missing list has no
 * elements either, and `where` looks for one of them if the place is a `mixed` value.
 */
function lackingElements(field: string, shape: ObjectShape): Document[] {
  const { parts, shape: element } = placeAt(field, shape)
  const lists = parts.slice(0, -1).map((_, at) => parts.slice(0, at + 1).join('.'))
  const absent = element.kind === 'mixed' ? lists.slice(-1).map((list) => ({ [list]: null })) : []
  return [...lists.map((list) => ({ [list]: { $elemMatch: { $eq: null } } })), ...absent]
}

/** `condition` at a place. A list in a `mixed` value is a value like any other: its elements do not count. */
function where(field: string, condition: Document, shape: ObjectShape): Document {
  const { shape: element, parts } = placeAt(field, shape)
  const last = parts.at(-1) ?? ''
  if (element.kind !== 'mixed' || last === '') return { [field]: condition }
  const scalar = { ...condition, $not: { $type: 'array' } }
  if (parts.length === 1) return { [field]: scalar }
  return { [parts.slice(0, -1).join('.')]: { $elemMatch: { [last]: scalar } } }
}

function placeAt(field: string, shape: ObjectShape): Place {
  const place = placeOf(shape, field)
  if (!place) throw new TypeError(`the field '${field}' is not in the collection's shape`)
  return place
}

function every(queries: readonly Document[]): Document {
  const [only] = queries
  if (!only) return {}
  return queries.length === 1 ? only : { $and: queries }
}

function some(queries: readonly Document[]): Document {
  const [only] = queries
  if (!only) return NONE
  return queries.length === 1 ? only : { $or: queries }
}

function not(query: Document): Document {
  return { $nor: [query] }
}

/**
 * BSON strings are UTF-8, which has no lone surrogates: such a string is never stored, and would be sent as another
 * one.
 */
function isUnstorable(value: Scalar): boolean {
  return typeof value === 'string' && !value.isWellFormed()
}

/** A pattern is sent as a C string, which ends at NUL. */
function withoutNul(pattern: string): string {
  return pattern.replaceAll('\0', '\\x00')
}
