/**
 * The engine of a model: every write of a record goes through here, from a route or from your app's code, so that
 * validation, timestamps and ids are in one place.
 *
 * @module
 */

import { invalidFields } from '../../http/refusals.ts'
import { enforcedReferences, type ReferencedId } from '../../model/enforced-references.ts'
import { hiddenInside } from '../../model/hidden.ts'
import type { Model } from '../../model/model.ts'
import { projected } from '../../model/present.ts'
import type { Settling } from '../../model/renamed-collection.ts'
import { validateFields, validateRecord } from '../../model/validate.ts'
import { valueIn } from '../../model/value-at.ts'
import { isFields } from '../../model/writable.ts'
import { all, type Filter, withId } from '../../ports/filter.ts'
import { topOf } from '../../ports/paths.ts'
import {
  type Change,
  type CollectionSchema,
  DuplicateKey,
  type Fields,
  type StepResult,
  type WriteAction,
} from '../../ports/store.ts'
import { inOwnTurn, isLarge } from '../../ports/turns.ts'
import { clashingFields, duplicateIn, type Refused } from './clashes.ts'
import type { Integrity } from './integrity.ts'
import { KnownUpdates, type WriteKnown } from './known-updates.ts'
import { dependentSteps, type Removal, removeKept } from './removal.ts'
import { isMissing, type Replacement, replacement, withValue } from './replace.ts'
import { SerialQueue } from './serial-queue.ts'

/** What the engine needs from the app. */
export interface Surroundings {
  readonly now: () => number
  readonly newId: (idType: Model['idType']) => string
  /** The app's enforced references; known once its models are. */
  readonly integrity: () => Integrity
}

/** Returns the values to write together with `changes`, in the same step. */
export type Along = (changes: Fields) => Fields
/** Reads and writes the records of one model. */
export class RecordEngine {
  readonly model: Model
  /** The store's collection: for reads, and for conditional writes of values that need no validation. */
  readonly stored: Settling
  /** The schema of the collection. */
  readonly schema: CollectionSchema
  /** Writers whose hooks judge a record wait here, after another one has overtaken them. */
  readonly judging: SerialQueue = new SerialQueue()
  readonly #surroundings: Surroundings
  readonly #along: Along[] = []
  readonly #knowing: KnownUpdates
  /** The hidden paths inside fields that are shown themselves. */
  readonly #unseen: readonly string[]
  /** Whether the model has references that must exist. */
  #refers: boolean | undefined

  constructor(
    model: Model,
    schema: CollectionSchema,
    stored: Settling,
    surroundings: Surroundings,
  ) {
    this.model = model
    this.schema = schema
    this.stored = stored
    this.#surroundings = surroundings
    this.#unseen = hiddenInside(model)
    this.#knowing = new KnownUpdates(model, (filter) => this.first(filter))
  }

  /**
   * From now on, every update also writes what `along` returns for its changes, in the same step, no matter who writes.
   * The values are not validated.
   */
  writeAlong(along: Along): void {
    this.#along.push(along)
  }

  /** The same engine over `stored` in place of the collection, with the references that `integrity` keeps. */
  over(stored: Settling, integrity: Integrity): RecordEngine {
    const surroundings = { ...this.#surroundings, integrity: () => integrity }
    const engine = new RecordEngine(this.model, this.schema, stored, surroundings)
    engine.#along.push(...this.#along)
    return engine
  }

  /** A record that matches; any of them if several do. */
  async first(filter: Filter): Promise<Fields | undefined> {
    const [record] = await this.stored.find({ filter, sort: [], limit: 1 })
    return record
  }

  /** A whole record from `input`, as the schema produces it. Throws a `ValidationError` with `fields`. */
  async validate(input: Fields): Promise<Fields> {
    const validation = await validateRecord(this.model, input)
    if (!validation.ok) throw invalidFields(validation.fields)
    return validation.values
  }

  /** The touched fields of an update, each as its schema produces it. Throws a `ValidationError`. */
  async validateChanges(input: Fields): Promise<Fields> {
    const validation = await validateFields(this.model, input)
    if (!validation.ok) throw invalidFields(validation.fields)
    return validation.values
  }

  /**
   * Like `validateChanges`, for a writer who cannot see hidden fields: inside an object that is replaced, the stored
   * values of hidden members count as sent, so that rules about them hold; the result leaves them out.
   */
  async validateSeen(input: Fields, filter: Filter): Promise<Fields> {
    const touched = this.#unseen.filter((path) => isFields(input[topOf(path)]))
    const stored = touched.length > 0 ? await this.first(filter) : undefined
    const found = stored ? touched.filter((path) => isMissing(input, stored, path)) : []
    if (!stored || found.length === 0) return this.validateChanges(input)
    const whole = found.reduce(
      (record, path) => withValue(record, path, valueIn(stored, path)),
      input,
    )
    const validation = await validateFields(this.model, whole)
    // A value stored under earlier rules must not block the write.
    const changes = validation.ok ? validation.values : await this.validateChanges(input)
    return projected(changes, { exclude: found })
  }

  /**
   * Stores validated values as a new record, and resolves to what is stored. Throws a 409 with the unique fields whose
   * values are taken.
   */
  async insert(values: Fields, id?: string): Promise<Fields> {
    const { idType, timestamps } = this.model
    const _id = id ?? (await this.stored.newId?.()) ?? this.#surroundings.newId(idType)
    const record: Fields = { _id, ...values }
    const now = new Date(this.#surroundings.now())
    if (timestamps.createdAt !== undefined) record[timestamps.createdAt] = now
    if (timestamps.updatedAt !== undefined) record[timestamps.updatedAt] = now
    if (isLarge(record)) return inOwnTurn(() => this.#insert(record))
    return this.#insert(record)
  }

  /**
   * Writes validated changes to the record that matches; null if there is none. Refinements across fields are checked
   * on the merged record, which is still the stored one when the write happens. `expect` is the caller's own condition:
   * null then also means that it did not hold. Values at `kept` inside a replaced object stay, and so do members that
   * the model does not declare.
   */
  async update(
    filter: Filter,
    changes: Fields,
    expect?: Fields,
    kept: readonly string[] = [],
  ): Promise<Fields | null> {
    const plan = replacement(this.model.shape, changes, kept)
    if (!this.model.refinements && plan.unsure.length === 0) {
      return this.#write(filter, changes, plan, expect)
    }
    const write: WriteKnown = (one, known, expected) => this.#write(one, changes, known, expected)
    return this.#knowing.update({ filter, changes, expect, kept, unsure: plan.unsure, write })
  }

  /** The same for a writer who cannot see hidden fields: inside an object that is replaced, their values stay. */
  updateSeen(filter: Filter, changes: Fields, expect?: Fields): Promise<Fields | null> {
    return this.update(filter, changes, expect, this.#unseen)
  }

  /** Writes validated changes to every record that matches; resolves to their number. */
  async updateWhere(filter: Filter, changes: Fields): Promise<number> {
    const plan = replacement(this.model.shape, changes, [])
    if (!this.model.refinements && plan.unsure.length === 0) {
      return this.#updateMany(filter, changes, this.#change(changes, plan))
    }
    let count = 0
    for await (const id of this.#idsOf(filter)) {
      const one = all([filter, withId(id)])
      if (await this.update(one, changes)) count += 1
    }
    return count
  }

  /**
   * Removes the record that matches, with the records that `cascade` removes with it; null if there is none. Throws a
   * 409 if an enforced reference forbids it.
   */
  async remove(filter: Filter, expect?: Fields): Promise<Removal | null> {
    const integrity = this.#surroundings.integrity()
    if (integrity.to(this.model).length > 0) return removeKept(integrity, this, filter, expect)
    const record = await this.stored.delete(filter, expect && { expect })
    return record && { record, others: [] }
  }

  /** Throws a 409 if an enforced reference forbids to remove the record with `id` now. */
  async checkRemovable(id: string): Promise<void> {
    await dependentSteps(this.#surroundings.integrity(), this, id)
  }

  /** The change that sets whole values and removes fields, by path, without validation. */
  changeOf(set: Fields, unset: readonly string[] = []): Change {
    return this.#change(set, { set, unset, unsure: [] })
  }

  #write(
    filter: Filter,
    changes: Fields,
    plan: Replacement,
    expect?: Fields,
  ): Promise<Fields | null> {
    const write = () => this.#update(filter, changes, this.#change(changes, plan), expect)
    return isLarge(changes) ? inOwnTurn(write) : write()
  }

  /** The record as it is stored. */
  async #insert(record: Fields): Promise<Fields> {
    const ids = this.#idsIn(record, record._id)
    try {
      if (!ids) return (await this.stored.insert(record)) ?? record
      const result = await this.#referring(ids, { insert: record })
      return result?.records[0] ?? record
    } catch (error) {
      throw await this.#refusal(error, { record })
    }
  }

  async #update(
    filter: Filter,
    changes: Fields,
    change: Change,
    expect: Fields | undefined,
  ): Promise<Fields | null> {
    const options = expect && { expect }
    const ids = this.#idsIn(changes)
    try {
      if (!ids) return await this.stored.update(filter, change, options)
      const action = { update: filter, change, ...(options && { options }) }
      return (await this.#referring(ids, action))?.records[0] ?? null
    } catch (error) {
      throw await this.#refusal(error, { filter, changes })
    }
  }

  async #updateMany(filter: Filter, changes: Fields, change: Change): Promise<number> {
    const ids = this.#idsIn(changes)
    try {
      if (!ids) return await this.stored.updateMany(filter, change)
      return (await this.#referring(ids, { updateMany: filter, change }))?.count ?? 0
    } catch (error) {
      throw await this.#refusal(error, { filter, changes, every: true })
    }
  }

  /** The ids in `values` that must exist; undefined if there are none. */
  #idsIn(values: Fields, own?: unknown): readonly ReferencedId[] | undefined {
    this.#refers ??= enforcedReferences(this.model).length > 0
    return this.#refers ? this.#surroundings.integrity().idsIn(this.model, values, own) : undefined
  }

  #referring(ids: readonly ReferencedId[], action: WriteAction): Promise<StepResult | null> {
    return this.#surroundings.integrity().writeReferring(ids, { engine: this, action })
  }

  /** The error of a write; for a unique value that is taken, a 409 with all fields that clash. */
  async #refusal(error: unknown, refused: Refused): Promise<unknown> {
    if (!(error instanceof DuplicateKey)) return error
    return duplicateIn(this.model, await clashingFields(this.model, this.stored, refused, error))
  }

  #change(changes: Fields, plan: Replacement): Change {
    const set = { ...plan.set }
    const unset = [...plan.unset]
    for (const along of this.#along) {
      for (const [field, value] of Object.entries(along(changes))) {
        if (value === undefined) unset.push(field)
        else set[field] = value
      }
    }
    const { updatedAt } = this.model.timestamps
    if (updatedAt !== undefined) set[updatedAt] = new Date(this.#surroundings.now())
    return { set, ...(unset.length > 0 && { unset }) }
  }

  async *#idsOf(filter: Filter): AsyncGenerator<string> {
    const page = 500
    let after: string | undefined
    do {
      const found = await this.stored.find({
        filter,
        sort: [{ field: '_id', descending: false }],
        limit: page,
        select: { include: ['_id'] },
        ...(after !== undefined && { after: [after] }),
      })
      for (const { _id } of found) yield String(_id)
      after = found.length === page ? String(found.at(-1)?._id) : undefined
    } while (after !== undefined)
  }
}
