/**
 * What a write does to the records that a filter matches, where that can be told without asking the database.
 *
 * @module
 */

import { matches } from '../../../../src/ports/evaluate.ts'
import type { Filter, Scalar } from '../../../../src/ports/filter.ts'
import { topOf } from '../../../../src/ports/paths.ts'
import type { Change, Fields } from '../../../../src/ports/store.ts'
import { changedPaths } from '../../changed.ts'
import type { Statement, Written } from '../sql.ts'

/** A record that came or went, or a change of some fields of records. */
export type Event = Passage | { readonly fields: ReadonlySet<string> }

/** A record that came or went. */
interface Passage {
  readonly by: 1 | -1
  readonly text: string
  /** Parsed when it is first asked for; null if that has to be waited for, or fails. */
  record?: Fields | null
}

/** Parses a record's JSON. */
export type Parse = (text: string) => Fields

/** The top-level fields that `change` writes. */
export function fieldsOf(change: Change): readonly string[] {
  return [...new Set(changedPaths(change).map(topOf))]
}

/** What a write has done; undefined if it is not known. */
export function eventsOf(
  { effect, values }: Statement,
  { rows, changes }: Written,
): Event[] | undefined {
  if (changes === 0) return []
  if (effect === undefined) return undefined
  if ('changed' in effect) return [{ fields: new Set(effect.changed) }]
  if ('inserts' in effect) return [{ by: 1, text: String(values[effect.inserts]) }]
  return rows.map(({ doc }) => ({ by: -1, text: String(doc) }))
}

/** By how much an event changes the number of records that `filter` matches; undefined if only the database knows. */
export function differenceBy(event: Event, filter: Filter, parse: Parse): number | undefined {
  if ('fields' in event) return concerns(filter, event.fields) ? undefined : 0
  if (event.record === undefined) event.record = recordIn(event.text, parse)
  if (!event.record || !isPlain(filter, event.record)) return undefined
  return matches(filter, event.record) ? event.by : 0
}

function recordIn(text: string, parse: Parse): Fields | null {
  try {
    return parse(text)
  } catch {
    return null
  }
}

function concerns(filter: Filter, fields: ReadonlySet<string>): boolean {
  if ('filters' in filter) return filter.filters.some((one) => concerns(one, fields))
  return fields.has(topOf(filter.field))
}

/**
 * Whether `filter` compares only values that SQLite and JavaScript compare alike. It is no question of the operators:
 * strings with lone surrogates are stored as others, and long numbers are parsed slightly differently.
 */
function isPlain(filter: Filter, record: Fields): boolean {
  if ('filters' in filter) return filter.filters.every((one) => isPlain(one, record))
  if (filter.op === 'contains' || filter.op === 'matches') return false
  const stored = valueAt(record, filter.field)
  if (stored === undefined) return false
  const values = 'values' in filter ? filter.values : [filter.value]
  return values.every((value) => isPlainValue(value) && areAlike(value, stored))
}

/** The plain value at a path; null if there is none, undefined for anything else, like a list. */
function valueAt(record: Fields, path: string): Scalar | undefined {
  let value: unknown = record
  for (const key of path.split('.')) {
    if (value === null || value === undefined) return null
    if (typeof value !== 'object' || Array.isArray(value) || value instanceof Date) return undefined
    value = Object.hasOwn(value, key) ? (value as Fields)[key] : null
  }
  return isPlainValue(value ?? null) ? ((value ?? null) as Scalar) : undefined
}

/** The most digits that every parser reads alike. */
const DIGITS = 15

function isPlainValue(value: unknown): boolean {
  if (value === null || typeof value === 'boolean') return true
  if (typeof value === 'string') return value.isWellFormed()
  if (typeof value === 'number') {
    return Number.isFinite(value) && String(value).replace(/\D/g, '').length <= DIGITS
  }
  return value instanceof Date && value.getTime() >= 0 && value.getUTCFullYear() <= 9999
}

function areAlike(a: Scalar, b: Scalar): boolean {
  if (a === null || b === null) return true
  return typeof a === typeof b
}
