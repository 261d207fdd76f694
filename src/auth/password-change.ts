/**
 * What a new password changes: all of it in one conditional step, so that no moment shows a part of it.
 *
 * @module
 */

import { withId } from '../ports/filter.ts'
import type { Change, Fields } from '../ports/store.ts'
import { codesEnded } from './codes.ts'
import { cleared } from './lockout.ts'
import { nextChange, type Realm } from './realm.ts'
import { sessionsEnded } from './sessions.ts'

/**
 * The change that gives `user` the password behind `hash`: every session ends, access tokens too, a pending
 * code dies, the lockout is cleared.
 */
export function passwordChange(
  realm: Realm,
  user: Fields,
  hash: string,
  also: Fields = {},
): Change {
  const { names } = realm
  const { set, unset } = cleared(realm)
  return {
    set: {
      ...set,
      ...sessionsEnded(realm),
      ...also,
      [names.password]: hash,
      [names.passwordChangedAt]: nextChange(realm, user),
    },
    unset: [...unset, ...codesEnded(realm)],
  }
}

/** Writes such a change if the password, and what `expect` names, are still those of `user`. */
export async function writePassword(
  realm: Realm,
  user: Fields,
  change: Change,
  expect: readonly string[] = [],
): Promise<boolean> {
  const { names, records } = realm
  const filter = withId(String(user._id))
  const fields = [names.password, names.passwordChangedAt, ...expect]
  const unchanged = Object.fromEntries(fields.map((field) => [field, user[field]]))
  return (await records.stored.update(filter, change, { expect: unchanged })) !== null
}
