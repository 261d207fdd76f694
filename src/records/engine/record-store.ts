/** `app.store`: your app's code reads and writes records through the same engine as the routes. */

import { invalidId } from '../../http/errors/refusals.ts'
import type { Managed, Model } from '../../model/model.ts'
import { idFrom } from '../../model/values/cast.ts'
import { declaredPart } from '../../model/versions/present.ts'
import { BY_ID, everything, type Filter, idsIn, withId } from '../../ports/store/filter.ts'
import { project } from '../../ports/store/projection.ts'
import type { Fields, Read } from '../../ports/store/records.ts'
import { aggregatableIn, aggregateIn, groupOf, planAggregate } from './aggregate-plan.ts'
import type { AggregateQuery, GroupOf, SortedBy } from './aggregate-query.ts'
import { type ConditionsOf, parseConditions } from './conditions.ts'
import {
  type FindOptions,
  type Found,
  natural,
  type Origin,
  type ReferenceName,
  reading,
  type SearchOptions,
  type Selected,
  searched,
} from './find-options.ts'
import type { RecordEngine } from './record-engine.ts'

/** What a write takes: the model's input type if it is known, else the stored record. */
type Written<R, I> = unknown extends I ? R : I

/** The changed part of it: null and undefined remove an optional field. */
type Changes<W> = { readonly [F in keyof W]?: W[F] | (undefined extends W[F] ? null : never) }

/** The records of one model with all declared fields, hidden ones included. Writes validate and clear the cache. */
export interface RecordCollection<R, I = unknown> {
  /** The records that match `filter`, in order. Without a filter: all of them. */
  find<const N extends ReferenceName<R> = never, const S extends string = never>(
    filter?: ConditionsOf<R>,
    options?: FindOptions<R, N, S>,
  ): Promise<Found<Selected<R & Managed, S, N>, N>[]>
  /** A record that matches, or null if none does. */
  findOne(filter: ConditionsOf<R>): Promise<(R & Managed) | null>
  /** The record, or null if there is none. Throws a 400 if the id does not have the model's format. */
  findById(id: string): Promise<(R & Managed) | null>
  /** The number of records that match, and that the search term `s` finds. */
  count(filter?: ConditionsOf<R>, options?: SearchOptions): Promise<number>
  /**
   * Groups of records, with what is computed of each, in the order of the groups unless `sort` says otherwise. Throws a 400 for a field
   * that can't be grouped by, or computed with.
   *
   * ```ts
   * const perCountry = await app.store.collection(City).aggregate({ count: true, by: ['country'], sort: '-count' })
   * ```
   */
  aggregate<const A extends AggregateQuery<R>>(
    query: A & SortedBy<A> & Readonly<Record<Exclude<keyof A, keyof AggregateQuery<R>>, never>>,
  ): Promise<GroupOf<R, A>[]>
  /**
   * Stores a new record, under its own `_id` if it has one, and resolves to the stored record. Throws a
   * `ValidationError` (400), or a 409 for a value that a unique field already has.
   */
  insert(record: Written<R, I> | (Written<R, I> & { readonly _id: string })): Promise<R & Managed>
  /**
   * Changes the given fields; `undefined` removes a field, and so does null unless the model accepts null. Resolves to
   * the changed record, or to null if there is none.
   */
  update(id: string, changes: Changes<Written<R, I>>): Promise<(R & Managed) | null>
  /** Changes every record that matches and resolves to their number. */
  updateWhere(filter: ConditionsOf<R>, changes: Changes<Written<R, I>>): Promise<number>
  /** Deletes a record and resolves to whether it existed. */
  delete(id: string): Promise<boolean>
}

/** Collections of records, by model. */
export interface Collections {
  /** The records of `model`. */
  collection<R, I = unknown>(model: Model<R, I>): RecordCollection<R, I>
}

/** The records of every model of an app. */
export interface RecordStore extends Collections {
  /**
   * Does several things as one step: `work` reads and writes through the collections of `tx`, sees there what it has
   * written, and nobody else sees any of it before all of it is stored. If it throws, nothing is. Resolves to what `work`
   * returns.
   *
   * What it has read one by one (`findById`, `findOne`, `find` by `_id`) must still be the same when the step is stored.
   * Otherwise `work` runs again with what is there now, three times at most; then it is a 409. So `work` should have no
   * effects but its writes. Other lists and counts that it reads may change meanwhile. At most 1,000 writes.
   *
   * Rejects with a `TypeError` if the store can't write several records in one step.
   *
   * ```ts
   * await app.store.atomic(async (tx) => {
   *   const account = await tx.collection(Account).findById(id)
   *   if (!account || account.balance < 10) throw new HttpError(409, 'Not enough money.')
   *   await tx.collection(Account).update(id, { balance: account.balance - 10 })
   *   await tx.collection(Payment).insert({ account: id, amount: 10 })
   * })
   * ```
   */
  atomic<T>(work: (tx: Collections) => T | Promise<T>): Promise<T>
}

/** Is told of what is read one by one: `found` match `filter`, and if `isAll`, no others do. */
export type NoteRead = (filter: Filter, found: readonly Fields[], isAll: boolean) => void

/** The public collection of `model`, once `ready`. With `note` the engine's records are shared, and it returns copies. */
export function recordCollection<R, I>(
  origin: Origin,
  of: Model,
  ready: () => Promise<void>,
  note?: NoteRead,
): RecordCollection<R, I> {
  type Stored = R & Managed
  const records = origin.engine(of)
  const { model, stored } = records
  const filterOf = (conditions: ConditionsOf<R> | undefined): Filter =>
    conditions === undefined ? everything : parseConditions(model, conditions)
  const byId = (id: string): Filter => {
    const value = typeof id === 'string' ? idFrom(id, model.idType) : undefined
    if (value === undefined) throw invalidId()
    return withId(value)
  }
  /** What the model declares of a record, hidden fields included. */
  const shown = (record: Fields | null | undefined): Stored | null =>
    record ? (declaredPart(model, note ? structuredClone(record) : record) as Stored) : null
  const first = async (filter: Filter, sort: Read['sort'] = []): Promise<Stored | null> => {
    await ready()
    const [record] = await stored.find({ filter, sort, limit: 1 })
    note?.(filter, record ? [record] : [], !record)
    return shown(record)
  }
  /** The records of a read, whole if it is noted: then they are compared when the step is written. */
  const found = async (read: Read, isNoted: boolean): Promise<Fields[]> => {
    if (!note) return stored.find(read)
    const { select, ...whole } = read
    const all = await stored.find(whole)
    if (isNoted) note(read.filter, all, !read.skip && all.length < read.limit)
    return all.map((record) => structuredClone(project(record, select)))
  }
  return {
    async find(conditions, options = {}) {
      await ready()
      const filter = filterOf(conditions)
      const { read, fill } = await reading(origin, model, filter, options)
      const all = await found(read, idsIn(filter) !== undefined)
      const shown = all.map((record) => declaredPart(model, record, read))
      return (fill ? await fill(shown) : shown) as never
    },
    findOne: async (filter) => first(filterOf(filter), BY_ID),
    findById: async (id) => first(byId(id)),
    async count(filter, options = {}) {
      await ready()
      return stored.count(await searched(origin, model, filterOf(filter), options))
    },
    async aggregate({ by, filter, sort, limit, ...aggregate }) {
      await ready()
      const plan = planAggregate({ aggregate, by, sort }, aggregatableIn(model))
      const most = natural('limit', limit ?? Number.MAX_SAFE_INTEGER)
      const read = { ...plan, filter: filterOf(filter), limit: most }
      const rows = await aggregateIn(stored, read, model)
      return rows.map((row) => groupOf(row, plan)) as never
    },
    async insert(record) {
      await ready()
      const { _id, ...values } = record as Fields
      const id = _id === undefined ? undefined : idFrom(String(_id), model.idType)
      if (_id !== undefined && id === undefined) throw invalidId()
      return shown(await records.insert(await records.validate(values), id)) as Stored
    },
    async update(id, changes) {
      await ready()
      const one = byId(id)
      return shown(noting(note, one, await records.update(one, await changesOf(records, changes))))
    },
    async updateWhere(filter, changes) {
      await ready()
      return records.updateWhere(filterOf(filter), await changesOf(records, changes))
    },
    async delete(id) {
      await ready()
      const one = byId(id)
      return noting(note, one, await records.remove(one)) !== null
    },
  }
}

/** `one`, which a write of what matches has come to. That there was none is noted: it has been read. */
function noting<T>(note: NoteRead | undefined, filter: Filter, one: T | null): T | null {
  if (one === null) note?.(filter, [], true)
  return one
}

/** Validated changes; an explicit undefined removes the field, even if it has a default. */
async function changesOf(records: RecordEngine, changes: object): Promise<Fields> {
  const removed = Object.entries(changes).filter(
    ([field, value]) => value === undefined && Object.hasOwn(records.model.fields, field),
  )
  return { ...(await records.validateChanges(changes as Fields)), ...Object.fromEntries(removed) }
}
