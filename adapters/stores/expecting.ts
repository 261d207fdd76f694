/** Compare-and-set, as every store does it. */

import { isSameContent } from '../../src/ports/evaluation/evaluate.ts'
import type { Fields } from '../../src/ports/store/records.ts'
import type { WriteOptions } from '../../src/ports/store/store.ts'

/** What a record must hold to be written: what is expected of it, or exactly what is `stored` in the fields of that. */
export interface Held<Stored> extends WriteOptions {
  readonly stored?: Stored
}

/**
 * Writes a record that seemed not to hold what is expected of it. What was read does not tell every value that a database can
 * hold: of a number that JavaScript doesn't have, it has the nearest one. So the record is found once more, and expected to
 * stay as it is stored. Resolves to what `write` does, or to null.
 */
export async function asStored<Stored, Written>(
  expect: Readonly<Fields> = {},
  write: (held: Held<Stored>) => Promise<Written | null>,
  find: (fields: readonly string[]) => Promise<{ record: Fields; stored(): Stored } | undefined>,
): Promise<Written | null> {
  const fields = Object.keys(expect)
  if (fields.length === 0) return null
  const found = await find(fields)
  const isHeld = (field: string) => isSameContent(found?.record[field], expect[field])
  return found && fields.every(isHeld) ? write({ stored: found.stored() }) : null
}
