/**
 * Updates that must know the stored record: for rules across fields, and for objects that are replaced in part. The record
 * is read and compared in the step of the write, until no other write comes in between.
 */

import { invalidFields } from '../../http/refusals.ts'
import type { Model } from '../../model/model.ts'
import { upgraded } from '../../model/upgrade.ts'
import { validateAcross } from '../../model/validate.ts'
import { all, type Filter, withId } from '../../ports/filter.ts'
import type { Fields } from '../../ports/store.ts'
import { applyReplacement, type Replacement, replacement } from './replace.ts'
import { type Attempt, MAX_TRIES, SerialQueue } from './serial-queue.ts'

/** Writes to the one record that matches, if it is what is expected, and leaves `whole`; null if it is not. */
export type WriteKnown = (
  one: Filter,
  plan: Replacement,
  expect: Fields,
  whole: Fields,
) => Promise<Fields | null>

/** An update of a record that is read first. */
export interface KnownUpdate {
  readonly filter: Filter
  readonly changes: Fields
  /** The caller's own condition. */
  readonly expect: Fields | undefined
  /** Paths whose values stay. */
  readonly kept: readonly string[]
  /** The fields whose stored value decides what is written. */
  readonly unsure: readonly string[]
  readonly write: WriteKnown
}

/** The updates of one model's records. */
export class KnownUpdates {
  readonly #model: Model
  readonly #first: (filter: Filter) => Promise<Fields | undefined>
  readonly #queue = new SerialQueue()

  constructor(model: Model, first: (filter: Filter) => Promise<Fields | undefined>) {
    this.#model = model
    this.#first = first
  }

  /** The record after the update; null if there is none, or it is not what the caller expects. */
  async update(update: KnownUpdate): Promise<Fields | null> {
    const updated = await this.#queue.retry(MAX_TRIES, () => this.#attempt(update))
    if (updated) return updated.result
    throw new Error(`a record of '${this.#model.name}' changed faster than it could be checked`)
  }

  async #attempt({
    filter,
    changes,
    expect,
    kept,
    unsure,
    write,
  }: KnownUpdate): Promise<Attempt<Fields | null>> {
    const model = this.#model
    const stored = await this.#first(filter)
    if (!stored || !holds(stored, expect)) return { result: null }
    const plan = replacement(model.shape, changes, kept, stored)
    const whole = applyReplacement(upgraded(model, stored), plan)
    if (model.refinements) await checkAcross(model, whole)
    const seen = model.refinements ? Object.keys(model.fields) : unsure
    const unchanged = Object.fromEntries(seen.map((field) => [field, stored[field]]))
    const id = String(stored._id)
    const one = all([filter, withId(id)])
    const result = await write(one, plan, { ...unchanged, ...expect }, whole)
    return result ? { result } : { overtaken: id }
  }
}

/** A rule that checks whether a field is there must not find one that is being removed. */
async function checkAcross(model: Model, record: Fields): Promise<void> {
  const declared = Object.entries(record).filter(
    ([field, value]) => value !== undefined && Object.hasOwn(model.fields, field),
  )
  const validation = await validateAcross(model, Object.fromEntries(declared))
  if (!validation.ok) throw invalidFields(validation.fields)
}

/** Everything that `model` declares of a record but its id, to expect in a write. */
export function contentOf({ shape }: Model, record: Fields): Fields {
  const names = [...shape.fields.keys()].filter((name) => name !== '_id')
  return Object.fromEntries(names.map((name) => [name, record[name]]))
}

/** Whether `stored` has the values that the caller expects; the store checks again when it writes. */
export function holds(stored: Fields, expect: Fields = {}): boolean {
  return Object.entries(expect).every(
    ([field, value]) => JSON.stringify(stored[field]) === JSON.stringify(value),
  )
}
