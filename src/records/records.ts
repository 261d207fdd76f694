/**
 * The engine behind a model: every write of a record goes through here, from a route or from the deployer's
 * code, so that validation, timestamps and ids stand in one place.
 *
 * @module
 */

import { duplicate, invalidFields } from '../http/refusals.ts'
import type { Model } from '../model/define.ts'
import {
  type Validation,
  validateAcross,
  validateFields,
  validateRecord,
} from '../model/validate.ts'
import { all, type Filter, withId } from '../ports/filter.ts'
import { type Change, type Collection, DuplicateKey, type Fields } from '../ports/store.ts'
import { clashingFields, type Refused } from './clashes.ts'

/** What the engine needs of the app. */
export interface Surroundings {
  readonly now: () => number
  readonly newId: (idType: Model['idType']) => string
}

/** How often a compare-and-set is tried before the writes that outran it win. */
const MAX_TRIES = 50
/** The longest pause between two tries, in milliseconds. */
const MAX_PAUSE = 50

/** Reads and writes the records of one model. */
export class Records {
  readonly model: Model
  /** The store's collection: for reads, and for conditional writes of values that need no validation. */
  readonly stored: Collection
  readonly #surroundings: Surroundings

  constructor(model: Model, stored: Collection, surroundings: Surroundings) {
    this.model = model
    this.stored = stored
    this.#surroundings = surroundings
  }

  /** The record that matches, if there is one; any of them where several do. */
  async first(filter: Filter): Promise<Fields | undefined> {
    const [record] = await this.stored.find({ filter, sort: [], limit: 1 })
    return record
  }

  /** A whole record from `input`, as the schema produces it. Throws a `ValidationError` with `fields`. */
  async validate(input: Fields): Promise<Fields> {
    return accepted(await validateRecord(this.model, input))
  }

  /** The touched fields of an update, each as its schema produces it. Throws a `ValidationError`. */
  async validateChanges(input: Fields): Promise<Fields> {
    return accepted(await validateFields(this.model, input))
  }

  /** Stores validated values as a new record. Throws 409 with the unique fields whose values are taken. */
  async insert(values: Fields, id?: string): Promise<Fields> {
    const { model } = this
    const record: Fields = { _id: id ?? this.#surroundings.newId(model.idType), ...values }
    if (model.timestamps) {
      const now = new Date(this.#surroundings.now())
      Object.assign(record, { createdAt: now, updatedAt: now })
    }
    await this.#answered({ record }, () => this.stored.insert(record))
    return record
  }

  /**
   * Writes validated changes to the record that matches; null when there is none. Refinements across fields
   * are checked against the merged record, which is still the stored one when the write happens. `expect` is
   * a condition of the caller's own: null then also means that it did not hold.
   */
  async update(filter: Filter, changes: Fields, expect?: Fields): Promise<Fields | null> {
    return this.model.refinements
      ? this.#updateChecked(filter, changes, expect)
      : this.#write(filter, changes, expect)
  }

  /** Writes validated changes to every record that matches; resolves to their number. */
  async updateWhere(filter: Filter, changes: Fields): Promise<number> {
    if (!this.model.refinements) {
      return this.#answered({ filter, changes, every: true }, () =>
        this.stored.updateMany(filter, this.#change(changes)),
      )
    }
    let count = 0
    for await (const id of this.#idsOf(filter)) {
      const one = all([filter, withId(id)])
      if (await this.update(one, changes)) count += 1
    }
    return count
  }

  /** Removes the record that matches; resolves to it, or null when there is none. */
  async remove(filter: Filter, expect?: Fields): Promise<Fields | null> {
    return this.stored.delete(filter, expect && { expect })
  }

  async #updateChecked(filter: Filter, changes: Fields, expect?: Fields): Promise<Fields | null> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const stored = await this.first(filter)
      if (!stored || !holds(stored, expect)) return null
      const merged = Object.entries({ ...this.#declared(stored), ...changes })
      // A rule that looks whether a field is there must not find one that is being removed.
      const present = merged.filter(([, value]) => value !== undefined)
      accepted(await validateAcross(this.model, Object.fromEntries(present)))
      const unchanged = { ...this.#declared(stored), ...expect }
      const one = withId(String(stored._id))
      const updated = await this.#write(all([filter, one]), changes, unchanged)
      if (updated) return updated
      await pause(tries)
    }
    throw new Error(`a record of '${this.model.name}' changed faster than it could be checked`)
  }

  #write(filter: Filter, changes: Fields, expect?: Fields): Promise<Fields | null> {
    return this.#answered({ filter, changes }, () =>
      this.stored.update(filter, this.#change(changes), expect && { expect }),
    )
  }

  /** Runs a write; a unique value that is taken is a 409 with all fields that clash. */
  async #answered<T>(refused: Refused, write: () => Promise<T>): Promise<T> {
    try {
      return await write()
    } catch (error) {
      if (!(error instanceof DuplicateKey)) throw error
      throw duplicate(await clashingFields(this.model, this.stored, refused, error))
    }
  }

  #change(changes: Fields): Change {
    const stamped = this.model.timestamps
      ? { ...changes, updatedAt: new Date(this.#surroundings.now()) }
      : changes
    const entries = Object.entries(stamped)
    const unset = entries.filter(([, value]) => value === undefined).map(([field]) => field)
    const set = Object.fromEntries(entries.filter(([, value]) => value !== undefined))
    return { set, ...(unset.length > 0 && { unset }) }
  }

  /** The declared fields of a stored record, absent ones as undefined. */
  #declared(stored: Fields): Fields {
    return Object.fromEntries(Object.keys(this.model.fields).map((field) => [field, stored[field]]))
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

function accepted(validation: Validation): Fields {
  if (!validation.ok) throw invalidFields(validation.fields)
  return validation.values
}

/** Whether `stored` has the values that the caller expects; the store decides when it writes. */
function holds(stored: Fields, expect: Fields = {}): boolean {
  return Object.entries(expect).every(
    ([field, value]) => JSON.stringify(stored[field]) === JSON.stringify(value),
  )
}

/** Lets others finish first, for a time that grows and differs from theirs. */
function pause(tries: number): Promise<void> {
  const longest = Math.min(2 ** tries, MAX_PAUSE)
  return new Promise((resolve) => setTimeout(resolve, Math.random() * longest))
}
