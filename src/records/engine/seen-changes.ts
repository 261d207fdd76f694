/**
 * Updates that need the stored record: of a writer who cannot see hidden fields, to an object that has some inside, and those of
 * logged records that change nothing.
 */

import type { Model } from '../../model/model.ts'
import { projected } from '../../model/present.ts'
import { validateFields } from '../../model/validate.ts'
import { valueIn } from '../../model/value-at.ts'
import { isFields } from '../../model/writable.ts'
import { changed } from '../../ports/evaluate.ts'
import { all, type Filter, withId } from '../../ports/filter.ts'
import { topOf } from '../../ports/paths.ts'
import { isSameContent } from '../../ports/same-content.ts'
import type { Change, Collection, Fields } from '../../ports/store.ts'
import { holds } from './known-updates.ts'
import { isMissing, withValue } from './replace.ts'

/** A write of such changes. */
interface Seeing {
  readonly input: Fields
  /** The hidden paths inside what it replaces. */
  readonly touched: readonly string[]
  stored(): Promise<Fields | undefined>
  validate(input: Fields): Promise<Fields>
}

/** Those of the `hidden` paths that are inside what `input` replaces. */
export function touchedBy(input: Fields, hidden: readonly string[]): readonly string[] {
  return hidden.filter((path) => isFields(input[topOf(path)]))
}

/** `input`, validated as if it had the stored values at the hidden paths, which the result leaves out. */
export async function seenChanges(
  model: Model,
  { input, touched, stored: find, validate }: Seeing,
): Promise<Fields> {
  const stored = await find()
  const found = stored ? touched.filter((path) => isMissing(input, stored, path)) : []
  if (!stored || found.length === 0) return validate(input)
  const whole = found.reduce(
    (record, path) => withValue(record, path, valueIn(stored, path)),
    input,
  )
  const validation = await validateFields(model, whole)
  // A value stored under earlier rules must not block the write.
  const changes = validation.ok ? validation.values : await validate(input)
  return projected(changes, { exclude: found })
}

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
