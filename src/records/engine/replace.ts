/** From new field values to a change of the stored record, member by member: what the writer can't see stays. */

import { valueIn } from '../../model/model.ts'
import { converted, type Rules } from '../../model/versions/upgrade.ts'
import { isFields } from '../../model/writable.ts'
import type { Fields } from '../../ports/store/records.ts'
import type { ObjectShape, Shape } from '../../ports/store/shape.ts'
import type { Change } from '../../ports/store/store.ts'
import { isWithin, topOf } from '../../ports/values/paths.ts'

/** What a write sets and removes, by dotted path. */
export interface Replacement {
  readonly set: Fields
  readonly unset: readonly string[]
  /** The top-level fields whose stored value must be known first; empty if the stored record was given. */
  readonly unsure: readonly string[]
}

/**
 * The replacement of the fields in `changes`; undefined removes one. Members that no model declares stay, and so do
 * those at `kept`, paths that the writer cannot see; declared members missing from `changes` are removed. A list is
 * replaced as a whole, because nothing identifies its elements; and so is a field with `convert`, which would take what stays of
 * an earlier value for that value.
 */
export function replacement(
  model: Rules,
  changes: Fields,
  kept: readonly string[],
  stored?: Fields,
): Replacement {
  const { shape, convert = {} } = model
  const plan: Plan = { set: {}, unset: [], unsure: new Set(), kept, stored }
  for (const [field, value] of Object.entries(changes)) {
    if (value === undefined) plan.unset.push(field)
    else if (Object.hasOwn(convert, field)) replaceWhole(plan, model, field, value)
    else replace(plan, field, shape.fields.get(field), value)
  }
  return { set: plan.set, unset: plan.unset, unsure: [...plan.unsure] }
}

export function applyReplacement(record: Fields, { set, unset }: Replacement): Fields {
  let result = record
  for (const [path, value] of Object.entries(set)) result = withValue(result, path, value)
  for (const path of unset) result = withValue(result, path, undefined)
  return result
}

/** A copy of `record` with `value` at `path`, or without that path if `value` is undefined. */
export function withValue(record: Fields, path: string, value: unknown): Fields {
  return withAt(record, path.split('.'), value)
}

/** Whether `stored` has a value at `path`, and `record` has the object around it but not the value. */
export function isMissing(record: Fields, stored: Fields, path: string): boolean {
  const around = path.slice(0, path.lastIndexOf('.'))
  const isThere = isFields(valueIn(record, around)) && valueIn(record, path) === undefined
  return isThere && valueIn(stored, path) !== undefined
}

interface Plan {
  readonly set: Fields
  readonly unset: string[]
  readonly unsure: Set<string>
  readonly kept: readonly string[]
  /** The whole record, if it is known. */
  readonly stored: Fields | undefined
}

function replace(plan: Plan, path: string, shape: Shape | undefined, value: unknown): void {
  const isApart = shape?.kind === 'object' && isFields(value) && isTakenApart(plan, path, shape)
  if (isApart && Object.keys(value).every(isName)) replaceMembers(plan, path, shape, value)
  else plan.set[path] = value
}

/** Keeps nothing but what the writer can't see, as `convert` makes it of the stored value. */
function replaceWhole(plan: Plan, model: Rules, field: string, value: unknown): void {
  const { kept, stored, unsure, set } = plan
  const hidden = isFields(value) ? kept.filter((path) => isWithin(path, field)) : []
  if (hidden.length > 0 && !stored) unsure.add(field)
  const before = hidden.length > 0 && stored ? converted(model, stored) : {}
  const whole = { [field]: value }
  const missing = hidden.filter((path) => isMissing(whole, before, path))
  const all = missing.reduce((one, path) => withValue(one, path, valueIn(before, path)), whole)
  set[field] = all[field]
}

function replaceMembers(plan: Plan, path: string, shape: ObjectShape, value: Fields): void {
  const before = Object.keys(plan.set).length
  for (const [key, member] of Object.entries(value)) {
    if (member !== undefined) replace(plan, `${path}.${key}`, shape.fields.get(key), member)
  }
  const isEmpty = Object.keys(plan.set).length === before
  for (const [key, member] of shape.fields) {
    if (value[key] === undefined) remove(plan, `${path}.${key}`, member)
  }
  if (shape.open) removeOthers(plan, path, shape, value)
  if (isEmpty) makeSure(plan, path)
}

/** Removes the part of a member that the writer can see. */
function remove(plan: Plan, path: string, shape: Shape): void {
  if (plan.kept.some((kept) => isWithin(path, kept))) return
  if (shape.kind === 'object' && isPartlyKept(plan, path)) {
    for (const [key, member] of shape.fields) remove(plan, `${path}.${key}`, member)
  } else {
    plan.unset.push(path)
  }
}

/** Removes the undeclared members of an open object; their names must be known. */
function removeOthers(plan: Plan, path: string, shape: ObjectShape, value: Fields): void {
  for (const key of Object.keys(storedAt(plan, path) ?? {})) {
    const isOther = !shape.fields.has(key) && value[key] === undefined
    if (isOther && isName(key)) plan.unset.push(`${path}.${key}`)
  }
}

/** An object none of whose members is set must still exist. */
function makeSure(plan: Plan, path: string): void {
  if (storedAt(plan, path)) return
  plan.set[path] = {}
  const inside = plan.unset.filter((name) => isWithin(name, path))
  for (const name of inside) plan.unset.splice(plan.unset.indexOf(name), 1)
}

/** The object that is stored at a path, if there is one; it must be known. */
function storedAt({ stored, unsure }: Plan, path: string): Fields | undefined {
  if (!stored) unsure.add(topOf(path))
  const found = stored && valueIn(stored, path)
  return isFields(found) ? found : undefined
}

/** Whether the members of an object are written one by one: unless everything in it is declared and visible. */
function isTakenApart(plan: Plan, path: string, { fields, open }: ObjectShape): boolean {
  if (![...fields.keys()].every(isName)) return false
  const holdsObjects = [...fields.values()].some(({ kind }) => kind === 'object')
  return !open || holdsObjects || isPartlyKept(plan, path)
}

function isPartlyKept({ kept }: Plan, path: string): boolean {
  return kept.some((one) => isWithin(one, path))
}

/** Whether a path can contain this name: stores read a dot as a step, and MongoDB a `$` as an operator. */
function isName(key: string): boolean {
  return key !== '' && !key.includes('.') && !key.includes('\0') && !key.startsWith('$')
}

function withAt(value: unknown, [key = '', ...rest]: readonly string[], item: unknown): Fields {
  const { [key]: before, ...others } = isFields(value) ? value : {}
  if (rest.length > 0) {
    if (item === undefined && !isFields(before)) return isFields(value) ? value : {}
    return { ...others, [key]: withAt(before, rest, item) }
  }
  return item === undefined ? others : { ...others, [key]: item }
}

/** Returns the values to write together with `changes`, in the same step. */
export type Along = (changes: Fields, isNew?: boolean) => Fields

/** The change that does what `plan` says, with what comes along with `changes`. */
export function changeBy(plan: Replacement, changes: Fields, alongs: readonly Along[]): Change {
  const set = { ...plan.set }
  const unset = [...plan.unset]
  for (const along of alongs) {
    for (const [field, value] of Object.entries(along(changes))) {
      if (value === undefined) unset.push(field)
      else set[field] = value
    }
  }
  return { set, ...(unset.length > 0 && { unset }) }
}
