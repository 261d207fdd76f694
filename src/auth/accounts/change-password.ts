/**
 * What a new password changes: all in one conditional step, so that no one ever sees a part of it.
 *
 * @module
 */

import { withId } from '../../ports/filter.ts'
import type { Change, Fields } from '../../ports/store.ts'
import { codesEnded, type RightCode } from '../codes.ts'
import type { AuthInstance } from '../instance/instance.ts'
import { nextChange } from '../instance/user.ts'
import type { ResetCode } from '../setup/code-fields.ts'
import { cleared } from '../sign-in/lockout.ts'
import { sessionsEnded } from '../sign-in/sessions.ts'
import { onlyClient } from '../visit/known-clients.ts'
import { isProvable, isProven, opens, takeover } from './ways-in.ts'

/**
 * The change by which `client` sets the password behind `hash` for `user`. It ends every session, access tokens and
 * pending codes, clears the lockout, and forgets all known clients except this one.
 */
export function passwordChange(
  auth: AuthInstance,
  user: Fields,
  hash: string,
  client: string | undefined,
): Change {
  const { names } = auth
  const { set, unset } = cleared(auth)
  return {
    set: {
      ...set,
      ...sessionsEnded(auth),
      ...onlyClient(auth, user, client),
      [names.password]: hash,
      [names.passwordChangedAt]: nextChange(auth, user),
    },
    // Someone else may have requested another address, not the person who knows the new password.
    unset: [...unset, ...codesEnded(auth), ...pendingEnded(auth)],
  }
}

/**
 * The change for a right code: like `passwordChange`, and if it is the first proof on the account, only what it proves
 * stays. Undefined if the code went to an address that opens nothing any more.
 */
export function resetChange(
  auth: AuthInstance,
  { kind, user }: RightCode<ResetCode>,
  hash: string,
  client: string | undefined,
): Change | undefined {
  const field = auth.settings.delivery.toField[kind]
  const change = passwordChange(auth, user, hash, client)
  if (!opens(auth, user, field)) return undefined
  if (!isProvable(auth, field) || isProven(auth, user, field)) return change
  const { set, unset = [] } = takeover(auth, user, { field })
  return {
    set: { ...set, ...change.set },
    unset: unset.filter((gone) => gone !== auth.names.password),
  }
}

function pendingEnded({ names, settings }: AuthInstance): readonly string[] {
  return [names.pendingEmail].filter((field) => settings.model.shape.fields.has(field))
}

/**
 * Writes such a change if the password, and what `expect` holds, are still those of `user`: the user after it, or null.
 */
export async function writePassword(
  auth: AuthInstance,
  user: Fields,
  change: Change,
  expect: Fields = {},
): Promise<Fields | null> {
  const { names, engine } = auth
  const filter = withId(String(user._id))
  const fields = [names.password, names.passwordChangedAt]
  const unchanged = Object.fromEntries(fields.map((field) => [field, user[field]]))
  const options = { expect: { ...unchanged, ...expect } }
  return engine.stored.update(filter, change, options)
}
