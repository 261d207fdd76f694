/**
 * Which references a response fills in, and how much it grows by them.
 *
 * @module
 */

import type { Model } from '../../model/model.ts'
import { isFields } from '../../model/writable.ts'
import type { Fields, Projection } from '../../ports/store.ts'
import { leastBytes, type ResponseSize } from './response-size.ts'

/** A reference to fill in, checked. */
export interface Population {
  readonly path: string
  readonly target: Model
  readonly select: Projection | undefined
}

/** References to one model that are shown alike, so that each record is loaded once for all of them. */
export interface Wanted {
  readonly target: Model
  readonly select: Projection | undefined
  readonly paths: readonly (readonly string[])[]
  /** What is filled in; other references stay ids. */
  readonly ids: ReadonlySet<string>
}

/** How many records one query asks for: what they hold is counted before more are loaded. */
const AT_ONCE = 100

/**
 * The references in `records` to fill in: at most `most` distinct records, in the order of the records and then of
 * the populations.
 */
export function wantedOf(
  records: readonly Fields[],
  populations: readonly Population[],
  most: number,
): readonly Wanted[] {
  const groups = new Map<string, Wanted & { paths: string[][]; ids: Set<string> }>()
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
    for (const { keys, take } of places)
      if (!eachId(record, keys, take)) return [...groups.values()]
  }
  return [...groups.values()]
}

/** `ids` in the portions of one query each. */
export function* portions(ids: ReadonlySet<string>): Generator<string[]> {
  const all = [...ids]
  for (let at = 0; at < all.length; at += AT_ONCE) yield all.slice(at, at + AT_ONCE)
}

/** What stands in the place of a reference. */
export type Filler = (reference: unknown) => unknown

/** Loaded records by their ids, counted when they are loaded and again wherever they stand in the response. */
export class Loaded {
  readonly #ids: ReadonlySet<string>
  readonly #loading: ResponseSize
  readonly #response: ResponseSize
  readonly #shown = new Map<string, { readonly value: unknown; readonly bytes: number }>()

  constructor(ids: ReadonlySet<string>, loading: ResponseSize, response: ResponseSize) {
    this.#ids = ids
    this.#loading = loading
    this.#response = response
  }

  /** Keeps a record as it is shown. Throws the 413 where what is loaded is more than a response may have. */
  add(id: string, value: unknown): void {
    const bytes = leastBytes(value)
    this.#loading.add(bytes)
    this.#shown.set(id, { value, bytes })
  }

  /** The record in place of its id, null for one that is missing; what is not filled in stays. */
  readonly filler: Filler = (reference) => {
    if (typeof reference === 'string' && !this.#ids.has(reference)) {
      this.#response.add(reference.length)
      return reference
    }
    const found = this.#shown.get(String(reference))
    if (!found) return null
    this.#response.add(found.bytes)
    return found.value
  }
}

/** Hands each id at `keys` in `value` to `take`, until that gives false; whether it never did. */
function eachId(value: unknown, keys: readonly string[], take: (id: string) => boolean): boolean {
  if (Array.isArray(value)) return value.every((item) => eachId(item, keys, take))
  const [key, ...rest] = keys
  if (key === undefined) return typeof value !== 'string' || take(value)
  return !isFields(value) || eachId(value[key], rest, take)
}
