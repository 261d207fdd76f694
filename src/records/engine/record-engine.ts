/** The engine of a model: every write of a record goes through here, from a route or from your app's code. */

import { invalidFields } from '../../http/errors/refusals.ts'
import { enforcedReferences } from '../../model/enforced-references.ts'
import type { Model } from '../../model/model.ts'
import type { Fail } from '../../model/option-rules.ts'
import { type Validation, validateFields, validateRecord } from '../../model/shape/validate.ts'
import { newRecord } from '../../model/values/cast.ts'
import type { Settling } from '../../model/versions/renamed-collection.ts'
import { isFields } from '../../model/writable.ts'
import { firstIn, pages } from '../../ports/evaluation/walk.ts'
import { inOwnTurn, isLarge } from '../../ports/promises/turns.ts'
import { all, BY_ID, type Filter, withId } from '../../ports/store/filter.ts'
import type { Fields } from '../../ports/store/records.ts'
import type { Change, CollectionSchema } from '../../ports/store/store.ts'
import { topOf } from '../../ports/values/paths.ts'
import type { Author } from './author.ts'
import { refusedWith } from './clashes.ts'
import type { Integrity } from './integrity.ts'
import { type KnownUpdate, seenChanges, updateKnown, updateOfNothing } from './known-updates.ts'
import { checkStart, excludedBy, exclusivesOf, updateAllowed } from './model-rules.ts'
import { dependentSteps, type Removal, removeKept } from './removal.ts'
import { type Along, changeBy, type Replacement, replacement } from './replace.ts'
import { SerialQueue } from './serial-queue.ts'
import { type Writing, writingBySteps } from './stepwise.ts'

export interface Surroundings {
  readonly now: () => number
  readonly newId: (idType: Model['idType']) => string
  /** The app's enforced references; known once its models are. */
  readonly integrity: () => Integrity
  /** If the model's changes are logged: its records, as somebody writes them. */
  readonly writtenBy?: ((author: Author) => Settling) | undefined
}

export class RecordEngine {
  readonly model: Model
  /** The store's collection: for reads, and for conditional writes of values that need no validation. */
  readonly stored: Settling
  readonly schema: CollectionSchema
  /** Writers whose hooks judge a record wait here, after another one has overtaken them. */
  readonly judging: SerialQueue
  readonly author: Author | undefined
  readonly #surroundings: Surroundings
  readonly #along: Along[]
  /** Updates that must know the stored record wait here, in the same way. */
  readonly #knowing: SerialQueue
  /** The hidden paths inside fields that are shown themselves. */
  readonly #unseen: readonly string[]
  #refers: boolean | undefined

  constructor(
    model: Model,
    schema: CollectionSchema,
    stored: Settling,
    surroundings: Surroundings,
    { author, base, along = [] }: From = {},
  ) {
    this.model = model
    this.schema = schema
    this.stored = stored
    this.author = author
    this.#surroundings = surroundings
    this.#unseen = base ? base.#unseen : model.hidden.filter((path) => path.includes('.'))
    this.#along = along
    this.#knowing = base ? base.#knowing : new SerialQueue()
    this.judging = base?.judging ?? new SerialQueue()
  }

  /** The same engine, whose writes `author` does; the engine itself, if nobody notes them. */
  as(author: Author): RecordEngine {
    const stored = this.#surroundings.writtenBy?.(author)
    if (!stored) return this
    const from = { author, base: this, along: this.#along }
    return new RecordEngine(this.model, this.schema, stored, this.#surroundings, from)
  }

  /**
   * From now on, every write also writes what `along` returns for its changes, or for the values of a new record unless
   * they have it, in the same step, no matter who writes. What it returns is not validated.
   */
  writeAlong(along: Along): void {
    this.#along.push(along)
  }

  /**
   * The same engine over `stored` in place of the collection, with the references that `integrity` keeps. Its writers wait
   * in line with the others, unless theirs `isApart`: what waits for a batch must hold up nobody.
   */
  over(stored: Settling, integrity: Integrity, isApart = false): RecordEngine {
    const surroundings = { ...this.#surroundings, integrity: () => integrity, writtenBy: undefined }
    const from = { author: this.author, along: this.#along, base: isApart ? undefined : this }
    return new RecordEngine(this.model, this.schema, stored, surroundings, from)
  }

  first(filter: Filter): Promise<Fields | undefined> {
    return firstIn(this.stored, filter)
  }

  /** A whole record of what the schema makes of `input`, and has `produced` before. Throws a `ValidationError` with `fields`. */
  validate(input: Fields, produced?: Fields): Promise<Fields> {
    return validateRecord(this.model, input, produced).then(valuesOf)
  }

  /** The touched fields of an update, each as its schema produces it. Throws a `ValidationError`. */
  validateChanges(input: Fields): Promise<Fields> {
    return validateFields(this.model, input).then(valuesOf)
  }

  /**
   * Like `validateChanges`, for a writer who cannot see hidden fields: inside an object that is replaced, the stored
   * values of hidden members count as sent, so that rules about them hold; the result leaves them out.
   */
  validateSeen(input: Fields, filter: Filter): Promise<Fields> {
    const hidden = this.#unseen.filter((path) => isFields(input[topOf(path)]))
    if (hidden.length === 0) return this.validateChanges(input)
    return seenChanges(this, input, hidden, filter)
  }

  /** Stores validated values as a new record, and resolves to it. Throws a 409 with the unique fields that are taken. */
  async insert(values: Fields, id?: string): Promise<Fields> {
    if (this.model.transitions) checkStart(this.model, values)
    const _id = id ?? (await this.stored.newId?.()) ?? this.#surroundings.newId(this.model.idType)
    const along = this.#along.map((each) => each(values, true))
    const now = new Date(this.#surroundings.now())
    const record = newRecord(this.model, _id, Object.assign({}, ...along, values), now)
    const write = async () => {
      try {
        return (await this.#writing(record, record, record._id).insert(record)) ?? record
      } catch (error) {
        throw await refusedWith(this, error, { record })
      }
    }
    return isLarge(record) ? inOwnTurn(write) : write()
  }

  /**
   * Writes validated changes to the record that matches; null if there is none. Refinements across fields are checked
   * on the merged record, which is still the stored one when the write happens. `expect` is the caller's own condition:
   * null then also means that it did not hold. Values at `kept` inside a replaced object stay, and so do members that
   * the model does not declare. Throws a 409 if a value may not become what `changes` say.
   */
  update(
    filter: Filter,
    changes: Fields,
    expect?: Fields,
    kept: readonly string[] = [],
  ): Promise<Fields | null> {
    const plan = replacement(this.model, changes, kept)
    const ruled = this.model.exclude ? excludedBy(this.model, changes) : []
    const unsure = [...plan.unsure, ...ruled]
    const isKnown = !this.model.refinements && unsure.length === 0
    if (isKnown && !this.model.transitions) return this.#write(filter, changes, plan, expect)
    const writeFound: KnownUpdate['write'] = (one, found, expected, whole) =>
      this.#write(one, changes, found, expected, ruled.length > 0 ? whole : undefined)
    const known = { changes, kept, unsure, write: writeFound }
    return updateAllowed(this, filter, changes, expect, (one, expected) =>
      isKnown
        ? this.#write(one, changes, plan, expected)
        : updateKnown(this, this.#knowing, one, expected, known),
    )
  }

  /** The same for a writer who cannot see hidden fields: inside an object that is replaced, their values stay. */
  updateSeen(filter: Filter, changes: Fields, expect?: Fields): Promise<Fields | null> {
    return this.update(filter, changes, expect, this.#unseen)
  }

  /** Writes validated changes to every record that matches; resolves to their number. */
  async updateWhere(filter: Filter, changes: Fields): Promise<number> {
    const plan = replacement(this.model, changes, [])
    const { refinements, transitions, exclude, changes: isLogged } = this.model
    if (!refinements && !transitions && !exclude && !isLogged && plan.unsure.length === 0) {
      const change = this.#change(changes, plan)
      try {
        return await this.#writing(changes).updateMany(filter, change)
      } catch (error) {
        throw await refusedWith(this, error, { filter, changes, every: true })
      }
    }
    let count = 0
    const read = { filter, sort: BY_ID, select: { include: ['_id'] } }
    for await (const found of pages(this.stored, read)) {
      for (const { _id } of found)
        if (await this.update(all([filter, withId(String(_id))]), changes)) count += 1
    }
    return count
  }

  /** Removes what matches, with what `cascade` removes; null if there is none. Throws a 409 if a reference forbids it. */
  async remove(filter: Filter, expect?: Fields): Promise<Removal | null> {
    const isReferredTo = this.#integrity.to(this.model).length > 0
    if (isReferredTo) return removeKept(this.#integrity, this, filter, expect)
    const record = await this.stored.delete(filter, expect && { expect })
    return record && { record, others: [] }
  }

  /** Throws a 409 if an enforced reference forbids to remove the record with `id` now. */
  async checkRemovable(id: string): Promise<void> {
    await dependentSteps(this.#integrity, this, id)
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
    whole?: Fields,
  ): Promise<Fields | null> {
    const change = this.#change(changes, plan)
    const options = expect && { expect }
    const update = async () => {
      try {
        return await this.#writing(changes, whole).update(filter, change, options)
      } catch (error) {
        throw await refusedWith(this, error, { filter, changes })
      }
    }
    const write = isLarge(changes) ? () => inOwnTurn(update) : update
    if (!this.model.changes) return write()
    const untimed = changeBy(plan, changes, this.#along)
    const same = updateOfNothing(this, filter, Object.keys(changes), untimed, expect)
    return same.then((one) => one ?? write())
  }

  #change(changes: Fields, plan: Replacement): Change {
    const change = changeBy(plan, changes, this.#along)
    const { updatedAt } = this.model.timestamps
    if (updatedAt === undefined) return change
    return { ...change, set: { ...change.set, [updatedAt]: new Date(this.#surroundings.now()) } }
  }

  /** What writes `values`: the collection, or steps that make sure of what they refer to, and of what excludes `whole`. */
  #writing(values: Fields, whole?: Fields, own?: unknown): Writing {
    this.#refers ??= enforcedReferences(this.model).length > 0
    const ids = this.#refers ? this.#integrity.idsIn(this.model, values, own) : undefined
    const exclusives = whole && this.model.exclude ? exclusivesOf(this.model, whole, values) : []
    if (!ids && exclusives.length === 0) return this.stored
    return writingBySteps((action) =>
      this.#integrity.writeChecked(ids, exclusives, { engine: this, action }),
    )
  }

  get #integrity(): Integrity {
    return this.#surroundings.integrity()
  }
}

type From = { author?: Author | undefined; base?: RecordEngine | undefined; along?: Along[] }

/** The values that a schema has produced. Throws a `ValidationError` with `fields`. */
function valuesOf(validation: Validation): Fields {
  if (!validation.ok) throw invalidFields(validation.fields)
  return validation.values
}

/** Throws a start-up error for a model with ids that the store does not make. */
export function checkIds({ model, stored }: RecordEngine, store: string, fail: Fail): void {
  if (model.idType === 'integer' && !stored.newId) {
    fail(`'${store}' makes no integers: write id: 'objectId' or 'uuid'`)
  }
}
