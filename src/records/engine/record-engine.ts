/**
 * The engine behind a model: every write of a record goes through here, from a route or from the deployer's
 * code, so that validation, timestamps and ids stand in one place.
 *
 * @module
 */

import { duplicate, invalidFields } from '../../http/refusals.ts'
import type { Model } from '../../model/model.ts'
import { projected } from '../../model/present.ts'
import {
  type Validation,
  validateAcross,
  validateFields,
  validateRecord,
} from '../../model/validate.ts'
import { isFields } from '../../model/writable.ts'
import { all, type Filter, withId } from '../../ports/filter.ts'
import { isLarge, nextTurn } from '../../ports/slices.ts'
import { type Change, type Collection, DuplicateKey, type Fields } from '../../ports/store.ts'
import { clashingFields, type Refused } from './clashes.ts'
import { Lines } from './lines.ts'
import { isMissing, type Replacement, replaced, replacement, withValue } from './replace.ts'
import { valueIn } from './value-at.ts'

/** What the engine needs of the app. */
export interface Surroundings {
  readonly now: () => number
  readonly newId: (idType: Model['idType']) => string
}

/** An update of a record that is read first. */
interface KnownUpdate {
  readonly expect: Fields | undefined
  readonly kept: readonly string[]
  readonly unsure: readonly string[]
}
/** Another write of the record came between. */
class Outrun {
  /** Its id. */
  readonly record: string

  constructor(record: string) {
    this.record = record
  }
}

/** What a write of `changes` writes along with them, in the same step. */
export type Along = (changes: Fields) => Fields

/** How often a compare-and-set is tried before the writes that outran it win. */
const MAX_TRIES = 50
/** The longest pause between two tries, in milliseconds. */
const MAX_PAUSE = 50

/** Reads and writes the records of one model. */
export class RecordEngine {
  readonly model: Model
  /** The store's collection: for reads, and for conditional writes of values that need no validation. */
  readonly stored: Collection
  readonly #surroundings: Surroundings
  readonly #along: Along[] = []
  readonly #lines = new Lines()

  constructor(model: Model, stored: Collection, surroundings: Surroundings) {
    this.model = model
    this.stored = stored
    this.#surroundings = surroundings
  }

  /**
   * From now on every update writes along what `along` gives for its changes: what must follow from them follows in
   * the same step, whoever writes. The values need no validation.
   */
  writeAlong(along: Along): void {
    this.#along.push(along)
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

  /**
   * As `validateChanges`, for a writer that cannot see what is hidden: inside an object that is replaced, what is stored
   * at `unseen` counts as sent, so that rules for it hold, and is left out of the result.
   */
  async validateSeen(input: Fields, filter: Filter, unseen: readonly string[]): Promise<Fields> {
    const isTouched = (path: string) => isFields(input[path.split('.', 1)[0] ?? path])
    const touched = unseen.filter(isTouched)
    const stored = touched.length > 0 ? await this.first(filter) : undefined
    const found = stored ? touched.filter((path) => isMissing(input, stored, path)) : []
    if (!stored || found.length === 0) return this.validateChanges(input)
    const whole = found.reduce(
      (record, path) => withValue(record, path, valueIn(stored, path)),
      input,
    )
    const validation = await validateFields(this.model, whole)
    // A value that was stored by other rules must stand in nobody's way.
    const changes = validation.ok ? validation.values : await this.validateChanges(input)
    return projected(changes, { exclude: found })
  }

  /** Stores validated values as a new record. Throws 409 with the unique fields whose values are taken. */
  async insert(values: Fields, id?: string): Promise<Fields> {
    const { model } = this
    const record: Fields = { _id: id ?? this.#surroundings.newId(model.idType), ...values }
    if (model.timestamps) {
      const now = new Date(this.#surroundings.now())
      Object.assign(record, { createdAt: now, updatedAt: now })
    }
    await apart(record, () => this.#answered({ record }, () => this.stored.insert(record)))
    return record
  }

  /**
   * Writes validated changes to the record that matches; null when there is none. Refinements across fields
   * are checked against the merged record, which is still the stored one when the write happens. `expect` is
   * a condition of the caller's own: null then also means that it did not hold. What stands at `kept` inside
   * a replaced object stays, and so do members that the model does not declare.
   */
  async update(
    filter: Filter,
    changes: Fields,
    expect?: Fields,
    kept: readonly string[] = [],
  ): Promise<Fields | null> {
    const plan = replacement(this.model.shape, changes, kept)
    return this.model.refinements || plan.unsure.length > 0
      ? this.#updateKnown(filter, changes, { expect, kept, unsure: plan.unsure })
      : this.#write(filter, changes, plan, expect)
  }

  /** Writes validated changes to every record that matches; resolves to their number. */
  async updateWhere(filter: Filter, changes: Fields): Promise<number> {
    const plan = replacement(this.model.shape, changes, [])
    if (!this.model.refinements && plan.unsure.length === 0) {
      return this.#answered({ filter, changes, every: true }, () =>
        this.stored.updateMany(filter, this.#change(changes, plan)),
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

  /**
   * An update for which the stored record must be known: compare-and-set, until no other write comes between. Who was
   * outrun tries again after the others of this process that were, so that only other processes can outrun it much longer.
   */
  async #updateKnown(
    filter: Filter,
    changes: Fields,
    options: KnownUpdate,
  ): Promise<Fields | null> {
    const first = await this.#tryKnown(filter, changes, options)
    if (!(first instanceof Outrun)) return first
    return this.#lines.after(first.record, async () => {
      for (let tries = 0; tries < MAX_TRIES; tries += 1) {
        const next = await this.#tryKnown(filter, changes, options)
        if (!(next instanceof Outrun)) return next
        await pause(tries)
      }
      throw new Error(`a record of '${this.model.name}' changed faster than it could be checked`)
    })
  }

  /** The record after the update, null where there is none to update, or the id of the record that another has written. */
  async #tryKnown(
    filter: Filter,
    changes: Fields,
    { expect, kept, unsure }: KnownUpdate,
  ): Promise<Fields | Outrun | null> {
    const stored = await this.first(filter)
    if (!stored || !holds(stored, expect)) return null
    const plan = replacement(this.model.shape, changes, kept, stored)
    await this.#checkAcross(replaced(stored, plan))
    const seen = this.model.refinements ? Object.keys(this.model.fields) : unsure
    const unchanged = Object.fromEntries(seen.map((field) => [field, stored[field]]))
    const id = String(stored._id)
    const one = all([filter, withId(id)])
    return (await this.#write(one, changes, plan, { ...unchanged, ...expect })) ?? new Outrun(id)
  }

  /** A rule that looks whether a field is there must not find one that is being removed. */
  async #checkAcross(record: Fields): Promise<void> {
    const declared = Object.entries(record).filter(
      ([field, value]) => value !== undefined && Object.hasOwn(this.model.fields, field),
    )
    accepted(await validateAcross(this.model, Object.fromEntries(declared)))
  }

  #write(
    filter: Filter,
    changes: Fields,
    plan: Replacement,
    expect?: Fields,
  ): Promise<Fields | null> {
    return apart(changes, () =>
      this.#answered({ filter, changes }, () =>
        this.stored.update(filter, this.#change(changes, plan), expect && { expect }),
      ),
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

  #change(changes: Fields, plan: Replacement): Change {
    const set = { ...plan.set }
    const unset = [...plan.unset]
    for (const along of this.#along) {
      for (const [field, value] of Object.entries(along(changes))) {
        if (value === undefined) unset.push(field)
        else set[field] = value
      }
    }
    if (this.model.timestamps) set.updatedAt = new Date(this.#surroundings.now())
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

function accepted(validation: Validation): Fields {
  if (!validation.ok) throw invalidFields(validation.fields)
  return validation.values
}

/** Writes large values in a turn of its own: what comes before and after takes one too. */
async function apart<T>(values: Fields, write: () => Promise<T>): Promise<T> {
  if (!isLarge(values)) return write()
  await nextTurn()
  const written = await write()
  await nextTurn()
  return written
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
