/**
 * Which references a response fills in, and how much larger that makes it.
 *
 * @module
 */

import { responseTooLarge } from '../../http/refusals.ts'
import type { Model } from '../../model/model.ts'
import { isFields } from '../../model/writable.ts'
import type { Fields, Projection } from '../../ports/store.ts'
import type { Population } from '../setup/view.ts'

/** References to one model that are shown the same way, so that each record is loaded once for all of them. */
export interface ReferenceGroup {
  readonly target: Model
  readonly select: Projection | undefined
  readonly paths: readonly (readonly string[])[]
  /** The ids to fill in; other references stay ids. */
  readonly ids: ReadonlySet<string>
}

/** How many records one query loads: they are counted before more are loaded. */
const MAX_RECORDS_PER_QUERY = 100

/**
 * The references in `records` to fill in: at most `most` distinct records, in the order of the records and then of the
 * populations.
 */
export function referencesIn(
  records: readonly Fields[],
  populations: readonly Population[],
  most: number,
): readonly ReferenceGroup[] {
  const groups = new Map<string, ReferenceGroup & { paths: string[][]; ids: Set<string> }>()
  const distinct = new Set<string>()
  const places = populations.map(({ path, target, select }) => {
    const alike = `${target.name} ${JSON.stringify(select)}`
    const group = groups.get(alike) ?? { target, select, paths: [], ids: new Set() }
    groups.set(alike, group)
    const keys = path.split('.')
    group.paths.push(keys)
    const take = (id: string): boolean => {
      const name = `${target.name} ${id}`
      if (!distinct.has(name) && distinct.size >= most) return false
      distinct.add(name)
      group.ids.add(id)
      return true
    }
    return { keys, take }
  })
  for (const record of records) {
    for (const { keys, take } of places) {
      const [key = ''] = keys
      const value = record[key]
      const isOne = keys.length === 1 && typeof value === 'string'
      if (!(isOne ? take(value) : eachId(record, keys, take))) return [...groups.values()]
    }
  }
  return [...groups.values()]
}

/** `ids`, split into portions of one query each. */
export function* portionsOf(ids: ReadonlySet<string>): Generator<string[]> {
  const all = [...ids]
  for (let at = 0; at < all.length; at += MAX_RECORDS_PER_QUERY)
    yield all.slice(at, at + MAX_RECORDS_PER_QUERY)
}

/** Returns the replacement of a reference. */
export type Filler = (reference: unknown) => unknown

/** How many bytes may still be loaded, and how many a response may still have. */
export interface BytesLeft {
  loading: number
  response: number
}

/** Loaded records by id. Their size is counted when they are loaded, and again wherever they appear in the response. */
export class LoadedRecords {
  readonly #ids: ReadonlySet<string>
  readonly #left: BytesLeft
  readonly #shown = new Map<string, { readonly value: unknown; readonly bytes: number }>()

  constructor(ids: ReadonlySet<string>, left: BytesLeft) {
    this.#ids = ids
    this.#left = left
  }

  /** Keeps a record as it will be shown. Throws a 413 if more has been loaded than a response may have. */
  add(id: string, value: unknown): void {
    const bytes = leastBytes(value)
    this.#left.loading -= bytes
    if (this.#left.loading < 0) throw responseTooLarge()
    this.#shown.set(id, { value, bytes })
  }

  /** The record for an id, null if it is missing; what is not filled in stays. */
  readonly filler: Filler = (reference) => {
    const isLeft = typeof reference === 'string' && !this.#ids.has(reference)
    const found = isLeft ? undefined : this.#shown.get(String(reference))
    if (!isLeft && !found) return null
    this.#left.response -= isLeft ? reference.length : (found?.bytes ?? 0)
    if (this.#left.response < 0) throw responseTooLarge()
    return isLeft ? reference : found?.value
  }
}

/** Calls `take` with each id at `keys` in `value`, until it returns false; returns whether it never did. */
function eachId(value: unknown, keys: readonly string[], take: (id: string) => boolean): boolean {
  if (Array.isArray(value)) return value.every((item) => eachId(item, keys, take))
  const [key, ...rest] = keys
  if (key === undefined) return typeof value !== 'string' || take(value)
  return !isFields(value) || eachId(value[key], rest, take)
}

/** The bytes of a date in JSON. */
const DATE_BYTES = 26

/** The fewest bytes that `value` takes as JSON: names, strings and punctuation, without escapes. */
function leastBytes(value: unknown): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return 1
  if (value instanceof Date) return DATE_BYTES
  let bytes = 2
  if (Array.isArray(value)) {
    for (const item of value) bytes += leastBytes(item)
    return bytes
  }
  for (const [name, member] of Object.entries(value)) {
    if (member !== undefined) bytes += name.length + 3 + leastBytes(member)
  }
  return bytes
}
