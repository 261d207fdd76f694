/**
 * What an update writes besides what was asked for.
 *
 * @module
 */

import type { Model } from '../../model/model.ts'
import { changed } from '../../ports/evaluate.ts'
import { all, type Filter, withId } from '../../ports/filter.ts'
import { isSameContent } from '../../ports/same-content.ts'
import type { Change, Collection, Fields } from '../../ports/store.ts'
import { holds } from './known-updates.ts'
import type { Replacement } from './replace.ts'

/** Returns the values to write together with `changes`, in the same step. */
export type Along = (changes: Fields) => Fields

/** Makes the changes of one model's records. */
export class ChangeMaker {
  readonly along: Along[]
  readonly #model: Model
  readonly #now: () => number

  constructor(model: Model, now: () => number, along: readonly Along[] = []) {
    this.#model = model
    this.#now = now
    this.along = [...along]
  }

  /** A new record. */
  created(_id: string, values: Fields): Fields {
    const { createdAt, updatedAt } = this.#model.timestamps
    const record: Fields = { _id, ...values }
    const now = new Date(this.#now())
    if (createdAt !== undefined) record[createdAt] = now
    if (updatedAt !== undefined) record[updatedAt] = now
    return record
  }

  /** The change that does what `plan` says, with what comes along with `changes`, and the time. */
  of(changes: Fields, plan: Replacement): Change {
    const change = this.#untimed(changes, plan)
    const { updatedAt } = this.#model.timestamps
    if (updatedAt === undefined) return change
    return { ...change, set: { ...change.set, [updatedAt]: new Date(this.#now()) } }
  }

  /**
   * Writes to the record that matches, if the change leaves it as it is: it then keeps its time, because the log has no
   * entry for it. Undefined if it would be another one, or is missing.
   */
  async unchanged(
    stored: Pick<Collection, 'find' | 'update'>,
    filter: Filter,
    changes: Fields,
    plan: Replacement,
    expect: Fields | undefined,
  ): Promise<Fields | undefined> {
    if (!this.#model.changes || this.#model.timestamps.updatedAt === undefined) return undefined
    const [found] = await stored.find({ filter, sort: [], limit: 1 })
    if (!found || !holds(found, expect)) return undefined
    const change = this.#untimed(changes, plan)
    if (!isSameContent(changed(found, change), found)) return undefined
    const as = Object.fromEntries(Object.keys(changes).map((field) => [field, found[field]]))
    const one = all([filter, withId(String(found._id))])
    return (await stored.update(one, change, { expect: { ...as, ...expect } })) ?? undefined
  }

  #untimed(changes: Fields, plan: Replacement): Change {
    const set = { ...plan.set }
    const unset = [...plan.unset]
    for (const along of this.along) {
      for (const [field, value] of Object.entries(along(changes))) {
        if (value === undefined) unset.push(field)
        else set[field] = value
      }
    }
    return { set, ...(unset.length > 0 && { unset }) }
  }
}
