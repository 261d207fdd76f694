/**
 * Fills in referenced records: one query per model and page for any number of records and references, plus one for each
 * further hundred.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import { declaredParts, present } from '../../model/present.ts'
import { isFields } from '../../model/writable.ts'
import { all } from '../../ports/filter.ts'
import type { Fields, ReadHints } from '../../ports/store.ts'
import type { Models } from '../engine/host.ts'
import { visibleThroughReference } from '../rules/scope.ts'
import type { Population } from '../setup/view.ts'
import {
  type Filler,
  LoadedRecords,
  portionsOf,
  type ReferenceGroup,
  referencesIn,
} from './references.ts'

/** The limits and request for filling in. */
export interface PopulateOptions {
  readonly request: ApiRequest
  readonly lean: boolean
  readonly hints: ReadHints
  /** The most distinct records that are filled in. */
  readonly maxPopulated: number
  /** The most bytes of the response. */
  readonly maxResponseBytes: number
}

/**
 * Copies of `records` with the references filled in; a missing target becomes null, and is left out of a list.
 * References beyond `maxPopulated` stay ids. Throws a 413 as soon as the response would be too large.
 */
export async function populate(
  host: Models,
  records: readonly Fields[],
  populations: readonly Population[],
  options: PopulateOptions,
): Promise<Fields[]> {
  const filled = records.map((record) => ({ ...record }))
  const { maxResponseBytes } = options
  const left = { loading: maxResponseBytes, response: maxResponseBytes }
  const groups = referencesIn(filled, populations, options.maxPopulated)
  await Promise.all(
    groups.map(async (group) => {
      const found = new LoadedRecords(group.ids, left)
      if (group.ids.size > 0) await load(host, group, options, found)
      fillAll(filled, group, found)
    }),
  )
  return filled
}

function fillAll(
  records: readonly Fields[],
  { paths }: ReferenceGroup,
  { filler }: LoadedRecords,
): void {
  for (const record of records) {
    for (const keys of paths) {
      const [key = ''] = keys
      const isOne = keys.length === 1 && typeof record[key] === 'string'
      if (isOne) record[key] = filler(record[key])
      else replaceAt(record, keys, filler)
    }
  }
}

async function load(
  host: Models,
  { target, select, ids }: ReferenceGroup,
  { request, lean, hints }: PopulateOptions,
  into: LoadedRecords,
): Promise<void> {
  const scope = await visibleThroughReference(host, target, request)
  for (const values of portionsOf(ids)) {
    const found = await host.engine(target).stored.find({
      filter: all([{ op: 'in', field: '_id', values }, scope]),
      sort: [],
      limit: values.length,
      ...(select && { select }),
      hints,
    })
    for (const record of declaredParts(target, found, { select, lean })) {
      const shown = target.output ? present(target, record, lean) : record
      into.add(String(record._id), shown)
    }
  }
}

/** Replaces the ids at `keys` inside `record`, copying the containers on the way. */
function replaceAt(record: Fields, keys: readonly string[], filler: Filler): void {
  const [key, ...rest] = keys
  if (key === undefined || record[key] === undefined) return
  record[key] = fill(record[key], rest, filler)
}

function fill(value: unknown, keys: readonly string[], filler: Filler): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => fill(item, keys, filler))
    return keys.length === 0 ? items.filter((item) => item !== null) : items
  }
  if (keys.length === 0) return filler(value)
  if (!isFields(value)) return value
  const copy = { ...value }
  replaceAt(copy, keys, filler)
  return copy
}
