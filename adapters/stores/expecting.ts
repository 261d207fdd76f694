/** Compare-and-set, as every store does it. */

import { isSameContent } from '../../src/ports/evaluation/evaluate.ts'
import type { Fields } from '../../src/ports/store/records.ts'

/** A write of one record under a condition `Held` on what is stored of it. */
export interface Expecting<Held, Written> {
  /** The condition that the record holds exactly these values in its top-level fields; `undefined` means absent. */
  asWritten(expect: Readonly<Fields>): Held
  /** What is stored of the record: how it is read, and the condition that `fields` stay as they are. */
  find(fields: readonly string[]): Promise<{ record: Fields; held(): Held } | undefined>
  /** Writes the record under the condition; null if it does not hold. */
  write(held: Held): Promise<Written | null>
}

/**
 * Writes a record that holds what is expected of it. Resolves to what `write` does. What was read does not tell every
 * value that a database can hold: of a number that JavaScript doesn't have, it has the nearest one. So if the condition
 * on what was read does not hold, the record is read once more, and expected to stay as it is stored.
 */
export async function expecting<Held, Written>(
  expect: Readonly<Fields> = {},
  { asWritten, find, write }: Expecting<Held, Written>,
): Promise<Written | null> {
  return (await write(asWritten(expect))) ?? expectingAsStored(expect, { find, write })
}

/** The same once the condition on what was read did not hold. */
export async function expectingAsStored<Held, Written>(
  expect: Readonly<Fields>,
  { find, write }: Omit<Expecting<Held, Written>, 'asWritten'>,
): Promise<Written | null> {
  const fields = Object.keys(expect)
  if (fields.length === 0) return null
  const found = await find(fields)
  const isHeld = (field: string) => isSameContent(found?.record[field], expect[field])
  return found && fields.every(isHeld) ? write(found.held()) : null
}
