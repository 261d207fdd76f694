/**
 * The fields of a user that clients may write: what `registerFields` and `updateFields` name.
 *
 * @module
 */

import type { Fields } from '../ports/store.ts'
import { cleaned } from '../records/policy.ts'

/** The part of `body` that `allowed` names, forbidden keys removed at every level; the rest is dropped. */
export function chosenFields(body: Fields, allowed: readonly string[]): Fields {
  const chosen: Fields = {}
  for (const field of allowed) {
    if (Object.hasOwn(body, field)) chosen[field] = cleaned(field, body[field])
  }
  return chosen
}
