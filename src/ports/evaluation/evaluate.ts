/** What filters, orders and changes mean, applied to records in memory: the port's sentences in their simplest form. */

import type { Comparison, Containment, Filter, Scalar, SortKey } from '../store/filter.ts'
import type { Fields } from '../store/records.ts'
import { type ObjectShape, placeOf, type Shape } from '../store/shape.ts'
import type { Change } from '../store/store.ts'
import { fold } from '../values/fold.ts'

/** The records of a collection, as far as it decides how they compare. */
export interface Compared {
  readonly shape?: ObjectShape
  /** Whether its store compares ids that are integers as numbers. */
  readonly numericIds?: boolean | undefined
}

/** Whether `record` matches `filter`. Throws a `TypeError` for a pattern. */
export function matches(filter: Filter, record: Fields, as: Compared): boolean {
  switch (filter.op) {
    case 'and':
      return filter.filters.every((one) => matches(one, record, as))
    case 'or':
      return filter.filters.some((one) => matches(one, record, as))
    case 'ne':
      return !matches({ ...filter, op: 'eq' }, record, as)
    case 'nin':
      return !matches({ ...filter, op: 'in' }, record, as)
    case 'matches':
      throw new TypeError('patterns are matched by databases alone')
    case 'in':
      return filter.values.some((value) =>
        matches({ op: 'eq', field: filter.field, value }, record, as),
      )
    default: {
      const isNumeric = areNumbers(filter.field, as)
      return valuesAt(record, filter.field.split('.'), as.shape).some((value) =>
        meets(filter, value, isNumeric),
      )
    }
  }
}

function meets(filter: Comparison | Containment, value: unknown, isNumeric: boolean): boolean {
  if (filter.op === 'contains') {
    return typeof value === 'string' && fold(value).includes(fold(filter.text))
  }
  if (filter.op === 'eq') return isEqual(value, filter.value)
  if (filter.value === null || !sameType(value, filter.value)) return false
  const sign = compare(value as Scalar, filter.value, isNumeric)
  // `ne` is asked as what `eq` is not.
  return { gt: sign > 0, gte: sign >= 0, lt: sign < 0, lte: sign <= 0, ne: sign !== 0 }[filter.op]
}

/**
 * The values that a path leads to: one, or those of all elements of a list; null if there is none. Where the shape says
 * that something else is there than a list, one that is there all the same is a value.
 */
export function valuesAt(value: unknown, keys: readonly string[], shape?: Shape): unknown[] {
  const isList = Array.isArray(value)
  if (isList && (!shape || shape.kind === 'list')) {
    return value.flatMap((element) => valuesAt(element, keys, shape?.element))
  }
  const [key, ...rest] = keys
  if (key === undefined) return [value ?? null]
  if (typeof value !== 'object' || value === null || isList) return [null]
  const inside = shape?.kind === 'object' ? shape.fields.get(key) : undefined
  return valuesAt((value as Fields)[key], rest, inside)
}

/** The keys of an order whose strings compare as numbers. */
export function numbersIn(sort: readonly SortKey[], as: Compared): string[] {
  return sort.map(({ field }) => field).filter((field) => areNumbers(field, as))
}

/** Whether the strings in a field are ids that compare as numbers. */
function areNumbers(field: string, { shape, numericIds }: Compared): boolean {
  const at = numericIds && shape ? placeOf(shape, field)?.shape : undefined
  return at?.kind === 'id' && at.idType === 'integer'
}

function sameType(a: unknown, b: Scalar): boolean {
  if (a === null || b === null) return a === b
  return typeof a === typeof b && a instanceof Date === b instanceof Date
}

function isEqual(a: unknown, b: Scalar): boolean {
  // Live lists compare many strings, of which few are the same.
  if (typeof a === 'string') return a === b
  return sameType(a, b) && compare(a as Scalar, b) === 0
}

/** Null first; then numbers, dates, false before true, strings by code point or, if they are integers, by number. */
function compare(a: Scalar, b: Scalar, isNumeric = false): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null)
  if (isNumeric) return Number(BigInt(String(a)) - BigInt(String(b)))
  if (typeof a !== 'string' || typeof b !== 'string') return Math.sign(Number(a) - Number(b))
  const [left, right] = [[...a], [...b]]
  const at = left.findIndex((char, index) => char !== right[index])
  if (at === -1) return left.length === right.length ? 0 : -1
  return Math.sign((left[at]?.codePointAt(0) ?? -1) - (right[at]?.codePointAt(0) ?? -1))
}

export function position(
  sort: readonly SortKey[],
  record: Fields,
  { shape }: Compared = {},
): Scalar[] {
  return sort.map(({ field }) => (valuesAt(record, field.split('.'), shape)[0] ?? null) as Scalar)
}

/** Which of two positions comes first: negative if `a` does. */
export function compareAt(
  sort: readonly SortKey[],
  a: readonly Scalar[],
  b: readonly Scalar[],
  as?: Compared,
): number {
  for (const [at, { field, descending }] of sort.entries()) {
    const isNumeric = as !== undefined && areNumbers(field, as)
    const sign = compare(a[at] ?? null, b[at] ?? null, isNumeric)
    if (sign !== 0) return descending ? -sign : sign
  }
  return 0
}

export function changed(record: Fields, { set, unset, increment, push, pull }: Change): Fields {
  const copy = { ...record }
  for (const [path, value] of Object.entries(set ?? {})) put(copy, path, () => value)
  for (const path of unset ?? []) put(copy, path, () => undefined)
  for (const [path, by] of Object.entries(increment ?? {})) {
    put(copy, path, (before) => (typeof before === 'number' ? before : 0) + by)
  }
  for (const [path, { value, cap = Number.POSITIVE_INFINITY }] of Object.entries(push ?? {})) {
    put(copy, path, (before) => [...(Array.isArray(before) ? before : []), value].slice(-cap))
  }
  for (const [path, { key, value }] of Object.entries(pull ?? {})) {
    put(copy, path, (before) =>
      Array.isArray(before) ? before.filter((element) => element[key] !== value) : before,
    )
  }
  return copy
}

/** Changes `record`, but copies what is inside it: other versions of the record share it. */
function put(record: Fields, path: string, next: (before: unknown) => unknown): void {
  const [key = '', ...rest] = path.split('.')
  if (rest.length === 0) {
    const value = next(record[key])
    if (value === undefined) delete record[key]
    else record[key] = value
    return
  }
  const inner = record[key]
  const isObject = typeof inner === 'object' && inner !== null
  if (!isObject && next(undefined) === undefined) return
  const object = (Array.isArray(inner) ? [...inner] : isObject ? { ...inner } : {}) as Fields
  put(object, rest.join('.'), next)
  record[key] = object
}

/** Whether two values have the same content: equal members in any order, equal dates and elements; -0 is 0 unless `strict`. */
export function isSameContent(a: unknown, b: unknown, strict = false): boolean {
  if (Object.is(a, b) || (a === b && !strict)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false
  if (a instanceof Date && b instanceof Date) return Object.is(a.getTime(), b.getTime())
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>]
  const keys = Object.keys(left)
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && isSameContent(left[key], right[key], strict))
  )
}
