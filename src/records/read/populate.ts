/**
 * Fills in referenced records: one query per model and page for any number of records and references, plus one for each
 * further hundred.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import { isHidden, type Model } from '../../model/model.ts'
import { declaredPart, present, visible } from '../../model/present.ts'
import { isFields } from '../../model/writable.ts'
import { all } from '../../ports/filter.ts'
import type { Fields, ReadHints } from '../../ports/store.ts'
import type { Models } from '../engine/host.ts'
import { isReadable, type ReadableFields } from '../rules/fields-for.ts'
import type { PopulateOption } from '../rules/hooks.ts'
import { visibleThroughReference } from '../rules/scope.ts'
import { referenceAt } from '../setup/search-fields.ts'
import { type Filler, Loaded, type Population, portions, type Wanted, wantedOf } from './fill-in.ts'
import { knownNames, type WarnOfName } from './known-names.ts'
import { ResponseSize } from './response-size.ts'

/**
 * Resolves what `onGet` returned; a path that leads to no reference is left out with a warning. Only references among
 * `fields` are filled in, and of records of the same `model` nothing else is shown either.
 */
export function populations(
  host: Models,
  model: Model,
  option: PopulateOption | undefined,
  warn: WarnOfName,
  fields?: ReadableFields,
): readonly Population[] {
  const wanted = option === undefined ? [] : Array.isArray(option) ? option : [option]
  const found = wanted.flatMap(
    (item: string | { path: string; select?: string | readonly string[] }): Population[] => {
      const { path, select } = typeof item === 'string' ? { path: item } : item
      const name = referenceAt(model, path)
      const target = name !== undefined && !isHidden(model, path) && host.modelNamed(name)
      if (target) {
        const known = knownNames(target, names(select), warn)
        const shown = visible(target, known, target === model ? fields : undefined)
        return isReadable(fields, path) ? [{ path, target, select: shown }] : []
      }
      warn('populate', path, `reference of '${model.name}' to a model`)
      return []
    },
  )
  // The last entry for a path wins: once filled in, it is not an id any more.
  return [...new Map(found.map((population) => [population.path, population])).values()]
}

/** Names as a list; a string separates them by blanks. */
export function names(
  select: string | readonly string[] | undefined,
): readonly string[] | undefined {
  return typeof select === 'string' ? select.split(/\s+/).filter(Boolean) : select
}

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
  const loading = new ResponseSize(options.maxResponseBytes)
  const response = new ResponseSize(options.maxResponseBytes)
  const wanted = wantedOf(filled, populations, options.maxPopulated)
  await Promise.all(
    wanted.map(async (one) => {
      const { filler } = await loaded(host, one, options, new Loaded(one.ids, loading, response))
      for (const record of filled) for (const keys of one.paths) replaceAt(record, keys, filler)
    }),
  )
  return filled
}

async function loaded(
  host: Models,
  { target, select, ids }: Wanted,
  { request, lean, hints }: PopulateOptions,
  into: Loaded,
): Promise<Loaded> {
  if (ids.size === 0) return into
  const scope = await visibleThroughReference(host, target, request)
  for (const values of portions(ids)) {
    const found = await host.engine(target).stored.find({
      filter: all([{ op: 'in', field: '_id', values }, scope]),
      sort: [],
      limit: values.length,
      ...(select && { select }),
      hints,
    })
    for (const record of found) {
      into.add(
        String(record._id),
        present(target, declaredPart(target, record, { select, lean }), lean),
      )
    }
  }
  return into
}

/** Replaces the ids at `keys` inside `record`, copying the containers on the way. */
function replaceAt(record: Fields, keys: readonly string[], filler: Filler): void {
  const [key, ...rest] = keys
  if (key === undefined || record[key] === undefined) return
  record[key] = replaced(record[key], rest, filler)
}

function replaced(value: unknown, keys: readonly string[], filler: Filler): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => replaced(item, keys, filler))
    return keys.length === 0 ? items.filter((item) => item !== null) : items
  }
  if (keys.length === 0) return filler(value)
  if (!isFields(value)) return value
  const copy = { ...value }
  replaceAt(copy, keys, filler)
  return copy
}
