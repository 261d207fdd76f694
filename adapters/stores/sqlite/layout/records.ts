/**
 * Records, which are JSON in the column `doc`, and their fields as SQL; and folded shadows: a column beside the record for each
 * searchable path, so that search ignores case in all of Unicode, which SQLite's own functions do not.
 *
 * A string's shadow is its fold. A list's is a JSON list with the shadow of each element at its position (null if it is
 * not a string), so that pushing to the record's list and pulling from it take the same steps here.
 */

import type { Filter, SortKey } from '../../../../src/ports/store/filter.ts'
import type { Fields, Projection } from '../../../../src/ports/store/records.ts'
import { type ObjectShape, type Place, placeOf } from '../../../../src/ports/store/shape.ts'
import type { CollectionSchema } from '../../../../src/ports/store/store.ts'
import { fold } from '../../../../src/ports/values/fold.ts'
import { isoText } from '../../json-values.ts'
import { placeAt } from '../../planner/seek.ts'
import { caseKept, jsonPath, literal, type Parameters } from './sql.ts'

/** A value in the database: its SQL, and that of its JSON type. */
export interface Operand {
  readonly value: string
  readonly type: string
}

const known = new WeakMap<ObjectShape, Map<string, Place>>()

/** The field at a path. Throws a `TypeError` for one that the shape does not have. */
export function fieldAt(path: string, shape: ObjectShape): Place {
  const fields = known.get(shape) ?? new Map<string, Place>()
  const before = fields.get(path)
  if (before) return before
  const place = placeAt(path, shape)
  known.set(shape, fields.set(path, place))
  return place
}

/**
 * A field's value as SQL, as indexes hold it: filters and sorts must use the same for an index to serve them. Throws a
 * `TypeError` for one that leads through a list.
 */
export function fieldValue(path: string, shape: ObjectShape): string {
  return operandIn('doc', outsideLists(path, shape)).value
}

/** One key of an order, as indexes hold it and sorts ask for it. */
export function orderOf(
  { field, descending }: SortKey,
  { shape }: { readonly shape: ObjectShape },
): string {
  return `${fieldValue(field, shape)}${descending ? ' DESC' : ''}`
}

export function fieldJson(path: string, shape: ObjectShape): string {
  const own = outsideLists(path, shape)
  return own === '_id' ? 'json_quote(_id)' : `doc -> ${jsonPath(own)}`
}

/** The JSON of what `select` leaves of a record that is declared, as SQL; undefined if that leads into a field. */
export function partOf(shape: ObjectShape, select: Projection): string | undefined {
  const isIncluded = 'include' in select
  const names = new Set(isIncluded ? select.include : select.exclude)
  names.delete('_id')
  const own = [...shape.fields.keys()].filter((name) => names.has(name))
  if (own.length < names.size) return undefined
  if (isIncluded) {
    const members = own.map((name) => {
      const key = literal(`,${JSON.stringify(name)}:`)
      return ` || ifnull(${key} || (doc -> ${jsonPath(name)}), '')`
    })
    return `'{"_id":' || json_quote(_id)${members.join('')} || '}'`
  }
  if (own.length === 0) return 'doc'
  return own.length < MAX_ARGUMENTS
    ? `json_remove(doc, ${own.map(jsonPath).join(', ')})`
    : undefined
}

/** D1 allows so many in the call of a function. */
const MAX_ARGUMENTS = 32

function outsideLists(path: string, shape: ObjectShape): string {
  const [own = '', ...rest] = fieldAt(path, shape).parts
  if (rest.length > 0) throw new TypeError(`the field '${path}' leads through a list`)
  return own
}

/** The value at `path` in the record, or in an element from `json_each` with the alias `root`. */
export function operandIn(root: string, path: string): Operand {
  if (root === 'doc') {
    if (path === '_id') return { value: '_id', type: "'text'" }
    const at = jsonPath(path)
    return { value: `json_extract(doc, ${at})`, type: `json_type(doc, ${at})` }
  }
  if (path === '') return { value: `${root}.value`, type: `${root}.type` }
  const inside = (name: string) =>
    `CASE ${root}.type WHEN 'object' THEN ${name}(${root}.value, ${jsonPath(path)}) END`
  return { value: inside('json_extract'), type: inside('json_type') }
}

/** `value` as the other side of a comparison with a field's value. */
export function boundValue(
  value: string | number | boolean | Date,
  parameters: Parameters,
): string {
  if (typeof value === 'string') return parameters.bind(value)
  if (typeof value === 'boolean') return value ? '1' : '0'
  if (value instanceof Date) return parameters.bind(isoText(value))
  if (Number.isSafeInteger(value)) return parameters.bind(value)
  // SQLite parses some long numbers slightly wrong: then both sides must come from the same JSON.
  return `(${parameters.bind(JSON.stringify(value))} ->> '$')`
}

export interface Shadow {
  readonly path: string
  /** As in `Place`: the path, cut at lists. */
  readonly parts: readonly string[]
  readonly name: string
  /** The name as an identifier: not in double quotes, in which SQLite takes a column that is not there for a string. */
  readonly column: string
  /** The JSON that it is made of, as SQL. */
  readonly source: string
  /** Whether a record lacks it, as SQL. */
  readonly isLacking: string
}

/** A string to find in a shadow. */
export interface Search {
  readonly shadow: Shadow
  readonly text: string
  /** Its field and its text as the filter has them; no other search of a filter has the same. */
  readonly key: string
}

/** What a search has found: the rows that may hold the string, as a list in JSON; undefined if all have to be checked. */
export interface Found extends Search {
  readonly rowids: string | undefined
}

export type FoundRows = ReadonlyMap<string, Found>

export function searchKey(field: string, text: string): string {
  return `${field}\0${text}`
}

/** The condition that a row may hold `text` in a shadow; undefined if all rows have to be checked. */
export type Candidates = (
  shadow: Shadow,
  text: string,
  parameters: Parameters,
) => string | undefined

export const SHADOW_PREFIX = '~'

/** The shadows of a collection, by path. */
export function shadowsOf({ name, shape, searchable }: CollectionSchema): Map<string, Shadow> {
  const shadows = searchable.map((path): [string, Shadow] => {
    const place = placeOf(shape, path)
    if (place?.shape.kind !== 'string')
      throw new TypeError(`'${path}' of '${name}' is not a string`)
    return [path, shadowOf(path, place.parts)]
  })
  return new Map(shadows)
}

function shadowOf(path: string, parts: readonly string[]): Shadow {
  const name = SHADOW_PREFIX + caseKept(parts.join('[].'))
  const column = `\`${name.replaceAll('`', '``')}\``
  const at = jsonPath(parts[0] ?? '')
  const type = parts.length > 1 ? 'array' : 'text'
  return {
    ...{ path, parts, name, column },
    source: `(doc -> ${at})`,
    isLacking: `${column} IS NULL AND json_type(doc, ${at}) = '${type}'`,
  }
}

/** The new value of a shadow as SQL, given as SQL: never the same as before, so that the database can tell who keeps it. */
export function keptShadow(shadow: Shadow, value: string): string {
  const { column } = shadow
  // No search finds it: capitals are in no fold.
  const sign = isList(shadow) ? ' ' : 'Z'
  return `iif(${column} IS ${value}, ${value} || '${sign}', ${value})`
}

/** A shadow, a string or nested lists of strings, as the column holds it. */
export function asText(value: unknown): string | null {
  if (Array.isArray(value)) return JSON.stringify(value)
  return typeof value === 'string' ? value : null
}

/** The shadow of the value at the first of `parts` in `root`. */
export function shadowAt(root: unknown, parts: readonly string[]): unknown {
  const [path = '', ...rest] = parts
  const value = valueAt(root, path)
  if (rest.length === 0) return typeof value === 'string' ? folded(value) : null
  return Array.isArray(value) ? value.map((element) => shadowAt(element, rest)) : null
}

/** `text` as shadows hold it; search terms too. NUL, where a full-text index ends, becomes a letter that no fold has. */
export function folded(text: string): string {
  return fold(text).replaceAll('\0', 'N')
}

function valueAt(root: unknown, path: string): unknown {
  if (path === '') return root
  let at = root
  for (const key of path.split('.')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined
    at = (at as Fields)[key]
  }
  return at
}

/** What `filter` searches for in the shadows of a collection, which are given by path. */
export function searchesIn(
  filter: Filter,
  shadows: ReadonlyMap<string, Shadow>,
): readonly Search[] {
  if (shadows.size === 0) return []
  if ('filters' in filter) return filter.filters.flatMap((one) => searchesIn(one, shadows))
  const isSearch = filter.op === 'contains' && filter.text.isWellFormed()
  return isSearch ? [searchFor(filter.field, filter.text, shadows)] : []
}

/** The shadow contains the folded string. A list's shadow is searched as a whole, as JSON: it may match across elements. */
export function searchFor(
  field: string,
  text: string,
  shadows: ReadonlyMap<string, Shadow>,
): Search {
  const shadow = shadows.get(field)
  if (!shadow) throw new TypeError(`the field '${field}' is not searchable`)
  const term = folded(text)
  const whole = isList(shadow) ? JSON.stringify(term).slice(1, -1) : term
  return { shadow, text: whole, key: searchKey(field, text) }
}

export function isList({ parts }: Shadow): boolean {
  return parts.length > 1
}
