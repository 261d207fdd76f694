/** Statements, compiled once for each shape of reads and changes: for each request, that is a fifth of a list's time. */

import type { Filter, Scalar } from '../../../../src/ports/store/filter.ts'
import type { Fields, Read } from '../../../../src/ports/store/records.ts'
import type { Change } from '../../../../src/ports/store/store.ts'
import { isoText } from '../../json-values.ts'
import { type Found, type FoundRows, searchKey } from '../layout/records.ts'
import { MAX_LIST, type SqlValue, type Statement } from '../layout/sql.ts'
import { DEEP } from './page.ts'

const MAX_SHAPES = 500
/** More values than this make a statement that is hardly sent again. */
const MAX_VALUES = 30

/** A statement with the places of its values among those of its shape. */
interface Kept {
  readonly statement: Statement
  readonly places: readonly number[]
}

export class KeptStatements {
  readonly #kept = new Map<string, Kept>()

  /**
   * The statement that `compile` makes of what has this shape and these values; without a shape it is compiled each time, and
   * if it depends on more than that: `dependsOnMore` is asked once it is compiled.
   */
  of(
    shape: string | undefined,
    values: readonly SqlValue[],
    compile: () => Statement,
    dependsOnMore = () => false,
  ): Statement {
    if (shape === undefined || values.length > MAX_VALUES) return compile()
    const kept = this.#kept.get(shape)
    if (kept)
      return { ...kept.statement, values: kept.places.map((place) => values[place] as SqlValue) }
    const statement = compile()
    const places = statement.values.map((value) => values.indexOf(value))
    // A value that is there twice doesn't tell its place: then the next one of this shape may.
    const areTold = new Set(values).size === values.length && !places.includes(-1)
    if (areTold && !dependsOnMore()) {
      if (this.#kept.size >= MAX_SHAPES) this.#kept.clear()
      // Without the values, which may be large.
      this.#kept.set(shape, { statement: { ...statement, values: [] }, places })
    }
    return statement
  }
}

/** No name contains it. */
const END = '\0'

/** The shape of a read, whose values it adds to `values` as statements bind them; undefined if that is not all. */
export function readShape(read: Read, values: SqlValue[], found?: FoundRows): string | undefined {
  const { filter, sort, skip = 0, limit, after = [], afterRecord } = read
  let shape = afterRecord ? undefined : filterShape(filter, values, found)
  if (shape === undefined) return undefined
  for (const { field, descending } of sort) shape += field + END + (descending ? '-' : '+')
  for (const value of after) shape += kindOf(value, values)
  if (skip > 0) values.push(skip, limit + skip)
  values.push(limit)
  return shape + (skip < DEEP ? Math.sign(skip) : 2)
}

/** The same for a change of records that match and hold what is expected. */
export function changeShape(
  filter: Filter,
  change: Change,
  expect: Fields,
  values: SqlValue[],
): string | undefined {
  const json: unknown[] = []
  let shape = filterShape(filter, values)
  if (shape === undefined) return undefined
  shape += shapeOfChange(change, json, values)
  for (const field in expect) {
    const value = expect[field]
    if (value !== undefined) json.push(value)
    shape += `${END}${value === undefined ? 'absent' : typeof value === 'number'}${END}${field}`
  }
  if (json.length === 0) return shape
  // All of them are one value, unless that would be long.
  const list = JSON.stringify(json)
  if (list.length > MAX_LIST) return undefined
  values.push(list)
  return shape
}

function shapeOfChange(
  { set = {}, unset = [], increment = {}, push = {}, pull = {} }: Change,
  json: unknown[],
  values: SqlValue[],
): string {
  let shape = ''
  for (const path of unset) shape += `${END}unset${END}${path}`
  for (const path in set) {
    if (set[path] === undefined) continue
    json.push(set[path])
    shape += `${END}set${END}${path}`
  }
  for (const path in increment) {
    json.push(increment[path])
    shape += `${END}add${END}${path}`
  }
  for (const [path, { value, cap }] of Object.entries(push)) {
    json.push(value)
    if (cap !== undefined) values.push(cap)
    shape += `${END}${cap === undefined ? 'push' : 'cap'}${END}${path}`
  }
  for (const [path, { key, value }] of Object.entries(pull)) {
    json.push(value)
    shape += `${END}pull${END}${path}${END}${key}`
  }
  return shape
}

function filterShape(filter: Filter, values: SqlValue[], found?: FoundRows): string | undefined {
  switch (filter.op) {
    case 'and':
    case 'or': {
      let shape = `${filter.op}(`
      for (const one of filter.filters) {
        const inner = filterShape(one, values, found)
        if (inner === undefined) return undefined
        shape += inner
      }
      return `${shape})`
    }
    case 'in':
    case 'nin': {
      const { op, field, values: list } = filter
      const [only] = list
      const areTexts = list.every((one) => typeof one === 'string' && one.isWellFormed())
      if (typeof only !== 'string' || !areTexts) return undefined
      values.push(list.length === 1 ? only : JSON.stringify(list))
      return op + END + field + END + Math.min(list.length, 2)
    }
    case 'contains':
      return searchShape(found?.get(searchKey(filter.field, filter.text)), values)
    case 'matches':
      return undefined
    default:
      return filter.op + END + filter.field + END + kindOf(filter.value, values)
  }
}

function searchShape(search: Found | undefined, values: SqlValue[]): string | undefined {
  // In a list, the string is searched in two forms.
  if (!search || search.shadow.parts.length > 1) return undefined
  const { shadow, text, rowids } = search
  if (rowids !== undefined) values.push(rowids)
  values.push(text)
  return `contains${END}${shadow.path}${END}${typeof rowids}`
}

/** What SQL tells of a value; the value itself is added to `values`, unless that is all. */
function kindOf(value: Scalar, values: SqlValue[]): string {
  if (value === null || typeof value === 'boolean') return String(value) + END
  if (value instanceof Date) {
    values.push(isoText(value))
    return `date${END}`
  }
  // No stored string is such a one, so conditions have no value for it.
  if (typeof value === 'string' && !value.isWellFormed()) return `none${END}`
  const isJson = typeof value === 'number' && !Number.isSafeInteger(value)
  values.push(isJson ? JSON.stringify(value) : value)
  return (isJson ? 'json' : typeof value) + END
}
