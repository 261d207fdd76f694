/**
 * Filling in referenced records: one query for each reference and page, whatever the number of records.
 *
 * @module
 */

import type { ApiRequest } from '../http/request.ts'
import { isHidden, type Model } from '../model/define.ts'
import { declaredPart, present, visible } from '../model/present.ts'
import { isFields } from '../model/writable.ts'
import { all } from '../ports/filter.ts'
import type { Fields, Projection, ReadHints } from '../ports/store.ts'
import type { PopulateOption } from './hooks.ts'
import type { Host } from './host.ts'
import { knownNames, type WarnOfName } from './known-names.ts'
import { visibleThroughReference } from './scope.ts'
import { referenceAt } from './search-fields.ts'

/** A reference to fill in, checked. */
export interface Population {
  readonly path: string
  readonly target: Model
  readonly select: Projection | undefined
}

/** Resolves what `onGet` asked for; a path that leads to no reference is left out with a warning. */
export function populations(
  host: Host,
  model: Model,
  option: PopulateOption | undefined,
  warn: WarnOfName,
): readonly Population[] {
  const wanted = option === undefined ? [] : Array.isArray(option) ? option : [option]
  const found = wanted.flatMap(
    (item: string | { path: string; select?: string | readonly string[] }): Population[] => {
      const { path, select } = typeof item === 'string' ? { path: item } : item
      const name = referenceAt(model, path)
      const target = name !== undefined && !isHidden(model, path) && host.modelNamed(name)
      if (target) {
        return [{ path, target, select: visible(target, knownNames(target, names(select), warn)) }]
      }
      warn('populate', path, `reference of '${model.name}' to a model`)
      return []
    },
  )
  // The last word counts: what is filled in already is no id any more.
  return [...new Map(found.map((population) => [population.path, population])).values()]
}

/** Names as a list; a text holds them separated by blanks. */
export function names(
  select: string | readonly string[] | undefined,
): readonly string[] | undefined {
  return typeof select === 'string' ? select.split(/\s+/).filter(Boolean) : select
}

/** Copies of `records` with the references filled in; a missing target is null, and left out of a list. */
export async function populate(
  host: Host,
  records: readonly Fields[],
  wanted: readonly Population[],
  options: { readonly request: ApiRequest; readonly lean: boolean; readonly hints: ReadHints },
): Promise<Fields[]> {
  const filled = records.map((record) => ({ ...record }))
  await Promise.all(
    wanted.map(async ({ path, target, select }) => {
      const keys = path.split('.')
      const ids = new Set(filled.flatMap((record) => idsAt(record, keys)))
      if (ids.size === 0) return
      const scope = await visibleThroughReference(host, target, options.request)
      const found = await host.records(target).stored.find({
        filter: all([{ op: 'in', field: '_id', values: [...ids] }, scope]),
        sort: [],
        limit: ids.size,
        ...(select && { select }),
        hints: options.hints,
      })
      const byId = new Map(
        found.map((record) => [
          String(record._id),
          present(target, declaredPart(target, record), options.lean),
        ]),
      )
      for (const record of filled) replaceAt(record, keys, byId)
    }),
  )
  return filled
}

function idsAt(value: unknown, keys: readonly string[]): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => idsAt(item, keys))
  const [key, ...rest] = keys
  if (key === undefined) return typeof value === 'string' ? [value] : []
  return isFields(value) ? idsAt(value[key], rest) : []
}

/** Replaces the ids at `keys` inside `record`, copying the containers on the way. */
function replaceAt(
  record: Fields,
  keys: readonly string[],
  byId: ReadonlyMap<string, unknown>,
): void {
  const [key, ...rest] = keys
  if (key === undefined || record[key] === undefined) return
  record[key] = replaced(record[key], rest, byId)
}

function replaced(
  value: unknown,
  keys: readonly string[],
  byId: ReadonlyMap<string, unknown>,
): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => replaced(item, keys, byId))
    return keys.length === 0 ? items.filter((item) => item !== null) : items
  }
  if (keys.length === 0) return byId.get(String(value)) ?? null
  if (!isFields(value)) return value
  const copy = { ...value }
  replaceAt(copy, keys, byId)
  return copy
}
