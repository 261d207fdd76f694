/** Fills in referenced records: one query per model and page, and one for each further hundred records. */

import { responseTooLarge } from '../../http/errors/refusals.ts'
import type { ApiRequest } from '../../http/request/request.ts'
import { declaredRecords, present, shownPart } from '../../model/versions/present.ts'
import { isFields } from '../../model/writable.ts'
import { all, everything } from '../../ports/store/filter.ts'
import type { Fields, Projection, ReadHints } from '../../ports/store/records.ts'
import type { Models } from '../engine/models.ts'
import { visibleThroughReference } from '../rules/scope.ts'
import type { Population } from '../setup/resource.ts'

export interface PopulateOptions {
  readonly host: Pick<Models, 'engine' | 'scopesOf'>
  /** Undefined for your app's own code, which no scope limits. */
  readonly request: ApiRequest | undefined
  readonly lean: boolean
  /** Whether what comes of it only becomes JSON: then dates may be texts. */
  readonly isSent: boolean
  readonly hints: ReadHints
  readonly maxPopulated: number
  readonly maxResponseBytes: number
}

/** References to one model that are shown the same way, so that each record is loaded once for all of them. */
interface ReferenceGroup extends Pick<Population, 'target' | 'select'> {
  readonly chosen: Projection | undefined
  readonly inner: readonly Population[]
  readonly paths: (readonly string[])[]
  /** The ids to fill in; other references stay ids. */
  readonly ids: Set<string>
}

/** How many bytes may still be loaded, and which records are filled in, of which `maxPopulated` are the most. */
interface Loading extends PopulateOptions {
  readonly left: { bytes: number }
  readonly distinct: Set<string>
}

/** A loaded record as it will be shown. */
interface Shown {
  readonly value: unknown
  readonly bytes: number
}

/**
 * Copies of `records` with the references filled in; a missing target becomes null, and is left out of a list.
 * References beyond `maxPopulated` stay ids. Throws a 413 as soon as the response would be too large. What is loaded is
 * counted once, and again wherever it appears in the response.
 */
export async function populate(
  records: readonly Fields[],
  populations: readonly Population[],
  options: PopulateOptions,
  loading: Loading = { ...options, left: { bytes: options.maxResponseBytes }, distinct: new Set() },
  /** How many the response may still have. */
  left: { bytes: number } = { bytes: options.maxResponseBytes },
): Promise<Fields[]> {
  const filled = records.map((record) => ({ ...record }))
  const groups = groupReferences(filled, populations, loading)
  await Promise.all(
    groups.map(async (group) => {
      fillAll(filled, group, await load(group, loading), left)
    }),
  )
  return filled
}

/** The references in `records` to fill in, by record and then population: at most `maxPopulated` distinct records. */
function groupReferences(
  records: readonly Fields[],
  populations: readonly Population[],
  { distinct, maxPopulated }: Loading,
): readonly ReferenceGroup[] {
  const groups = new Map<string, ReferenceGroup>()
  const places = populations.map(({ path, target, select, chosen, populate: inner = [] }) => {
    const alike = `${target.name} ${JSON.stringify([select, chosen, inner.map((one) => [one.path, one.select, one.chosen])])}`
    const group = groups.get(alike) ?? { target, select, chosen, inner, paths: [], ids: new Set() }
    groups.set(alike, group)
    const keys = path.split('.')
    group.paths.push(keys)
    const take = (id: string): boolean => {
      const name = `${target.name} ${id}`
      if (!distinct.has(name) && distinct.size >= maxPopulated) return false
      distinct.add(name)
      group.ids.add(id)
      return true
    }
    return { keys, take }
  })
  for (const record of records) {
    for (const { keys, take } of places) {
      if (!eachId(record, keys, take)) return [...groups.values()]
    }
  }
  return [...groups.values()]
}

/** Calls `take` with each id at `keys` in `value`, until it returns false; returns whether it never did. */
function eachId(value: unknown, keys: readonly string[], take: (id: string) => boolean): boolean {
  if (Array.isArray(value)) return value.every((item) => eachId(item, keys, take))
  const [key, ...rest] = keys
  if (key === undefined) return typeof value !== 'string' || take(value)
  if (typeof value !== 'object' || value === null) return true
  return eachId((value as Fields)[key], rest, take)
}

/** How many records one query loads: they are counted before more are loaded. */
const MAX_RECORDS_PER_QUERY = 100

/** The records of a group by id. Throws a 413 if more are loaded than a response may have. */
async function load(group: ReferenceGroup, loading: Loading): Promise<ReadonlyMap<string, Shown>> {
  const { target, select, ids } = group
  const { host, request, hints, lean } = loading
  const shown = new Map<string, Shown>()
  if (ids.size === 0) return shown
  const scope = request ? await visibleThroughReference(host, target, request) : everything
  // What `output` is given has Dates, also inside of it.
  const own = { ...loading, isSent: loading.isSent && (!target.output || lean) }
  const { stored } = host.engine(target)
  const every = [...ids]
  for (let at = 0; at < every.length; at += MAX_RECORDS_PER_QUERY) {
    const values = every.slice(at, at + MAX_RECORDS_PER_QUERY)
    const read = {
      filter: all([{ op: 'in', field: '_id', values }, scope]),
      ...{ sort: [], limit: values.length, hints },
      ...(select && { select }),
    }
    await show(group, await declaredRecords(target, stored, read, own), own, shown)
  }
  return shown
}

/** Adds `declared` to `shown`, as the response shows them. */
async function show(
  { target, chosen, inner }: ReferenceGroup,
  declared: readonly Fields[],
  loading: Loading,
  shown: Map<string, Shown>,
): Promise<void> {
  const { lean } = loading
  // What is filled in inside a record counts with it, wherever that appears.
  const unlimited = { bytes: Number.POSITIVE_INFINITY }
  const records =
    inner.length > 0 ? await populate(declared, inner, loading, loading, unlimited) : declared
  for (const record of records) {
    const whole = target.output ? present(target, record, lean) : record
    const value = chosen ? shownPart(whole, chosen) : whole
    const bytes = leastBytes(value)
    loading.left.bytes -= bytes
    if (loading.left.bytes < 0) throw responseTooLarge()
    shown.set(String(record._id), { value, bytes })
  }
}

/** Replaces the ids of a group by the records, in place. */
function fillAll(
  records: readonly Fields[],
  { ids, paths }: ReferenceGroup,
  shown: ReadonlyMap<string, Shown>,
  left: { bytes: number },
): void {
  /** The record for an id, null if it is missing; what is not filled in stays. */
  const filler = (reference: unknown): unknown => {
    const isLeft = typeof reference === 'string' && !ids.has(reference)
    const found = isLeft
      ? { value: reference, bytes: reference.length }
      : shown.get(String(reference))
    left.bytes -= found?.bytes ?? 0
    if (left.bytes < 0) throw responseTooLarge()
    return found ? found.value : null
  }
  for (const record of records) {
    for (const [key = '', ...inside] of paths) {
      if (record[key] !== undefined) record[key] = fill(record[key], inside, filler)
    }
  }
}

/** `value` with the ids at `keys` replaced, and the containers on the way copied. */
function fill(
  value: unknown,
  keys: readonly string[],
  filler: (reference: unknown) => unknown,
): unknown {
  const [key, ...rest] = keys
  if (Array.isArray(value)) {
    const items = value.map((item) => fill(item, keys, filler))
    return key === undefined ? items.filter((item) => item !== null) : items
  }
  if (key === undefined) return filler(value)
  if (!isFields(value) || value[key] === undefined) return value
  return { ...value, [key]: fill(value[key], rest, filler) }
}

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
