/**
 * Changes of a writer who cannot see hidden fields, to an object that has some inside.
 *
 * @module
 */

import type { Model } from '../../model/model.ts'
import { projected } from '../../model/present.ts'
import { validateFields } from '../../model/validate.ts'
import { valueIn } from '../../model/value-at.ts'
import { isFields } from '../../model/writable.ts'
import { topOf } from '../../ports/paths.ts'
import type { Fields } from '../../ports/store.ts'
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
