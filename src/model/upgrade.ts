/** A stored record as reads show it now, and what a backfill would write to make it so. */

import { withDefaults } from '../ports/declared.ts'
import type { Change, Fields } from '../ports/store.ts'
import { converted } from './convert.ts'
import type { Model } from './model.ts'
import { underCurrentNames } from './renamed.ts'

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
  model: Model,
  record: Fields,
  shown: Fields = upgraded(model, record),
): Upgrade | undefined {
  const unset = [...model.renamed.keys()].filter((old) => record[old] !== undefined)
  const fields = Object.keys(model.fields).filter((field) => shown[field] !== record[field])
  if (fields.length === 0 && unset.length === 0) return undefined
  const pick = (from: Fields, names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, from[name]]))
  return {
    change: { set: pick(shown, fields), ...(unset.length > 0 && { unset }) },
    expect: pick(record, [...fields, ...unset]),
    fields: fields.length > 0 ? fields : unset.map((old) => model.renamed.get(old) ?? old),
  }
}
