/**
 * Updates that change nothing, of records whose changes are logged.
 *
 * @module
 */

import type { Model } from '../../model/model.ts'
import { changed } from '../../ports/evaluate.ts'
import { all, type Filter, withId } from '../../ports/filter.ts'
import { isSameContent } from '../../ports/same-content.ts'
import type { Change, Collection, Fields } from '../../ports/store.ts'
import { holds } from './known-updates.ts'

/** An update, without the time that it would set. */
interface Update {
  readonly filter: Filter
  /** The fields that it is about. */
  readonly fields: readonly string[]
  readonly change: Change
  readonly expect: Fields | undefined
}

/**
 * Writes to the record that matches, if the change leaves it as it is: it then keeps its time, because the log has no entry
 * for it. Undefined if it would be another one, or is missing.
 */
export async function updateOfNothing(
  model: Model,
  stored: Pick<Collection, 'find' | 'update'>,
  { filter, fields, change, expect }: Update,
): Promise<Fields | undefined> {
  if (model.timestamps.updatedAt === undefined) return undefined
  const [found] = await stored.find({ filter, sort: [], limit: 1 })
  if (!found || !holds(found, expect)) return undefined
  if (!isSameContent(changed(found, change), found)) return undefined
  const as = Object.fromEntries(fields.map((field) => [field, found[field]]))
  const one = all([filter, withId(String(found._id))])
  return (await stored.update(one, change, { expect: { ...as, ...expect } })) ?? undefined
}
