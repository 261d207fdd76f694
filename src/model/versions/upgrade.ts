/**
 * Records that were stored under an earlier model, as reads show them now, and what a backfill would write to make them so.
 *
 * Of a renamed field, a write stores the current name and removes the earlier one. So a value under an earlier name is the
 * one that was written last, perhaps by an earlier version of the app that runs beside this one.
 */

import { atOnce } from '../../ports/promises/synchronous.ts'
import { withDefaults } from '../../ports/store/declared.ts'
import type { Fields } from '../../ports/store/records.ts'
import type { Change } from '../../ports/store/store.ts'
import { type Model, timestampFields } from '../model.ts'
import { fits } from '../values/fits.ts'

/** `record` under the current names, with old values converted and missing defaults filled in; the rest as stored. */
export function upgraded(model: Model, record: Fields): Fields {
  const current = converted(model, underCurrentNames(record, model.renamed))
  return withDefaults(model.declared, current) as Fields
}

/** A write that stores what `upgraded` shows. */
export interface Upgrade {
  readonly change: Change
  /** What the record must still hold. */
  readonly expect: Fields
  /** The fields that it concerns, under their current names. */
  readonly fields: readonly string[]
}

/** What has to be written so that `record` is stored as it is `shown`; undefined if it is. */
export function upgradeOf(
  model: Pick<Model, 'renamed'> & Partial<Pick<Model, 'timestamps'>> & { readonly fields: object },
  record: Fields,
  shown: Fields,
): Upgrade | undefined {
  const unset = [...model.renamed.keys()].filter((old) => record[old] !== undefined)
  const stored = [...Object.keys(model.fields), ...timestampFields(model.timestamps ?? {})]
  const fields = stored.filter((field) => !Object.is(shown[field], record[field]))
  if (fields.length === 0 && unset.length === 0) return undefined
  const pick = (from: Fields, names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, from[name]]))
  return {
    change: { set: pick(shown, fields), ...(unset.length > 0 && { unset }) },
    expect: pick(record, [...fields, ...unset]),
    fields: fields.length > 0 ? fields : unset.map((old) => model.renamed.get(old) ?? old),
  }
}

export type Rules = Pick<Model, 'fields' | 'shape' | 'declared' | 'convert'>

/** `record` with the values that don't fit made to fit by `convert`, as far as it can; itself if nothing changes. */
export function converted(model: Rules, record: Fields): Fields {
  if (!model.convert) return record
  const changes = Object.entries(model.convert).flatMap(([field, convert]) => {
    const stored = record[field]
    if (stored === undefined || fits(model, field, stored)) return []
    const value = attempt(field, convert, stored)
    return value !== undefined && fits(model, field, value) ? [[field, value] as const] : []
  })
  return changes.length === 0 ? record : { ...record, ...Object.fromEntries(changes) }
}

function attempt(field: string, convert: (stored: unknown) => unknown, stored: unknown): unknown {
  try {
    return atOnce(`'convert' of the field '${field}'`, convert(stored))
  } catch {
    return undefined
  }
}

type Renamed = Model['renamed']

/** The same path under the earlier names of its field. */
export function formerPaths(path: string, renamed: Renamed): string[] {
  const [field = path] = path.split('.', 1)
  return [...renamed].flatMap(([old, now]) => (now === field ? [old + path.slice(now.length)] : []))
}

/** `record` under the current names: `record` itself if it has no earlier one, otherwise a copy. */
export function underCurrentNames(record: Fields, renamed: Renamed): Fields {
  let current: Fields | undefined
  // The first of several earlier names wins, as in filters.
  for (const [old, now] of [...renamed].reverse()) {
    if (record[old] === undefined) continue
    const { [old]: value, ...rest } = current ?? record
    current = value === null && rest[now] !== undefined ? rest : { ...rest, [now]: value }
  }
  return current ?? record
}
