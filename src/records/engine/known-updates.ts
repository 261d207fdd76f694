/**
 * Updates that must know the stored record: for rules across fields, for objects that are replaced in part or have hidden
 * members, and of logged records, where what changes nothing is no change.
 */

import { invalidFields } from '../../http/errors/refusals.ts'
import { type Model, valueIn } from '../../model/model.ts'
import { validateAcross, validateFields } from '../../model/shape/validate.ts'
import { converted, upgraded } from '../../model/versions/upgrade.ts'
import { type Compared, changed, isSameContent } from '../../ports/evaluation/evaluate.ts'
import { all, type Filter, withId } from '../../ports/store/filter.ts'
import { project } from '../../ports/store/projection.ts'
import type { Fields } from '../../ports/store/records.ts'
import type { Change, Collection } from '../../ports/store/store.ts'
import { applyReplacement, isMissing, type Replacement, replacement, withValue } from './replace.ts'
import { MAX_TRIES, type SerialQueue } from './serial-queue.ts'

export interface KnownRecords {
  readonly model: Model
  readonly stored: Collection
  first(filter: Filter): Promise<Fields | undefined>
}

export interface KnownUpdate {
  readonly changes: Fields
  /** Paths whose values stay. */
  readonly kept: readonly string[]
  /** The fields whose stored value decides what is written. */
  readonly unsure: readonly string[]
  /** Writes to the one record that matches, if it is what is expected, and leaves `whole`; null if it is not. */
  write(one: Filter, plan: Replacement, expect: Fields, whole: Fields): Promise<Fields | null>
}

/** The record after the update; null if none is as expected. Read and compared in the write, until none intervenes. */
export async function updateKnown(
  engine: KnownRecords,
  queue: SerialQueue,
  filter: Filter,
  expect: Fields | undefined,
  { changes, kept, unsure, write }: KnownUpdate,
): Promise<Fields | null> {
  const { model } = engine
  const updated = await queue.retry<Fields | null>(MAX_TRIES, async (awaited) => {
    const stored = await engine.first(filter)
    if (!stored || !holds(stored, expect)) return { result: null }
    const id = String(stored._id)
    if (awaited(id)) return { overtaken: id }
    const plan = replacement(model, changes, kept, stored)
    const whole = applyReplacement(upgraded(model, stored), plan)
    if (model.refinements) await checkAcross(model, whole)
    const seen = model.refinements ? Object.keys(model.fields) : unsure
    const one = all([filter, withId(id)])
    const result = await write(one, plan, { ...picked(stored, seen), ...expect }, whole)
    return result ? { result } : { overtaken: id }
  })
  if (updated) return updated.result
  throw new Error(`a record of '${model.name}' changed faster than it could be checked`)
}

/** A rule that checks whether a field is there must not find one that is being removed. */
async function checkAcross(model: Model, record: Fields): Promise<void> {
  const declared = Object.entries(record).filter(
    ([field, value]) => value !== undefined && Object.hasOwn(model.fields, field),
  )
  const validation = await validateAcross(model, Object.fromEntries(declared))
  if (!validation.ok) throw invalidFields(validation.fields)
}

/** `input`, validated as if it had the values at the hidden paths of the record that matches; the result leaves these out. */
export async function seenChanges(
  engine: KnownRecords & { validateChanges(input: Fields): Promise<Fields> },
  input: Fields,
  hidden: readonly string[],
  filter: Filter,
): Promise<Fields> {
  const first = await engine.first(filter)
  const stored = first && converted(engine.model, first)
  const found = stored ? hidden.filter((path) => isMissing(input, stored, path)) : []
  if (!stored || found.length === 0) return engine.validateChanges(input)
  const whole = found.reduce(
    (record, path) => withValue(record, path, valueIn(stored, path)),
    input,
  )
  const validation = await validateFields(engine.model, whole)
  // A value stored under earlier rules must not block the write.
  const valid = validation.ok ? validation.values : await engine.validateChanges(input)
  return project(valid, { exclude: found })
}

/**
 * Writes to the record that matches what it has, if `change`, which is about `fields`, leaves it as it is: it then keeps its
 * time, and the order of its members, because the log has no entry for it. Undefined if it would be another one, or is missing.
 */
export async function updateOfNothing(
  { model, stored }: KnownRecords,
  filter: Filter,
  fields: readonly string[],
  change: Change,
  expect: Fields | undefined,
): Promise<Fields | undefined> {
  const isOrdered = Object.values(change.set ?? {}).some((one) => typeof one === 'object')
  if (model.timestamps.updatedAt === undefined && !isOrdered) return undefined
  const [found] = await stored.find({ filter, sort: [], limit: 1 })
  if (!found || !holds(found, expect)) return undefined
  if (!isSameContent(changed(found, change), found)) return undefined
  const one = all([filter, withId(String(found._id))])
  const had = picked(found, fields)
  const options = { expect: { ...had, ...expect } }
  const unset = fields.filter((field) => had[field] === undefined)
  return (await stored.update(one, { set: had, unset }, options)) ?? undefined
}

/** How the records of a model compare, as their store compares them. */
export function comparedOf({
  model,
  stored,
}: Pick<KnownRecords, 'model' | 'stored'>): Compared & Pick<Model, 'shape'> {
  return { shape: model.shape, numericIds: stored.numericIds }
}

/** Everything that `model` declares of a record but its id, to expect in a write. */
export function contentOf({ shape }: Model, record: Fields): Fields {
  const names = [...shape.fields.keys()].filter((name) => name !== '_id')
  return picked(record, names)
}

function picked(record: Fields, fields: readonly string[]): Fields {
  return Object.fromEntries(fields.map((field) => [field, record[field]]))
}

/** Whether `stored` has the values that the caller expects; the store checks again when it writes. */
export function holds(stored: Fields, expect: Fields = {}): boolean {
  return Object.entries(expect).every(
    ([field, value]) => JSON.stringify(stored[field]) === JSON.stringify(value),
  )
}
