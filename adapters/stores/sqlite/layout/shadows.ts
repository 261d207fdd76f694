/**
 * Folded shadows: a column beside the record for each searchable path, so that search ignores case in all of Unicode,
 * which SQLite's own functions do not.
 *
 * A string's shadow is its fold. A list's is a JSON list with the shadow of each element at its position (null if it is
 * not a string), so that pushing to the record's list and pulling from it take the same steps here.
 *
 * @module
 */

import { fold } from '../../../../src/ports/fold.ts'
import { placeOf } from '../../../../src/ports/shape.ts'
import type { CollectionSchema, Fields } from '../../../../src/ports/store.ts'
import { caseKept, jsonPath, type Parameters } from './sql.ts'

/** The shadow of one searchable path. */
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
}

/** The condition that a row may hold `text` in a shadow; undefined if all rows have to be checked. */
export type Candidates = (
  shadow: Shadow,
  text: string,
  parameters: Parameters,
) => string | undefined

/** The prefix of the names of shadow columns. */
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

/** Follows a shadow's string: no search finds it, because capitals are in no fold. */
const SAME_TEXT = 'Z'
/** Follows a shadow's list. */
const SAME_LIST = ' '

/**
 * The new value of a shadow as SQL, given as SQL: never the same as before, so that the database can tell who keeps it.
 */
export function keptShadow({ column, parts }: Shadow, value: string): string {
  const sign = parts.length > 1 ? SAME_LIST : SAME_TEXT
  return `iif(${column} IS ${value}, ${value} || '${sign}', ${value})`
}

/** The value of a shadow column for a record. */
export function shadowText(record: Fields, { parts }: Shadow): string | null {
  return asText(shadowAt(record, parts))
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

/**
 * `text` as shadows hold it; search terms too. NUL, where a full-text index ends, becomes a letter that no fold has.
 */
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
