/**
 * The fields of a user that clients may write: what `registerFields` and `updateFields` name.
 *
 * @module
 */

import { nestedTooDeeply } from '../http/refusals.ts'
import { tooDeep, withoutForbiddenKeys } from '../model/writable.ts'
import type { Fields } from '../ports/store.ts'

/** The part of `body` that `allowed` names, forbidden keys removed at every level; the rest is dropped. */
export function chosenFields(body: Fields, allowed: readonly string[]): Fields {
  const chosen: Fields = {}
  for (const field of allowed) {
    if (!Object.hasOwn(body, field)) continue
    const value = withoutForbiddenKeys(body[field])
    if (value === tooDeep) throw nestedTooDeeply(field)
    chosen[field] = value
  }
  return chosen
}
