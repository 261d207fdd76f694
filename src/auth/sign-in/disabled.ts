/**
 * A disabled account loses its sessions for good: when it is enabled again, nothing from before opens it (ASVS 7.4.2).
 *
 * @module
 */

import { withId } from '../../ports/filter.ts'
import type { Fields } from '../../ports/store.ts'
import type { AuthInstance } from '../instance/instance.ts'
import { changedAt, nextChange } from '../instance/user.ts'
import { oneEnded, sessionsEnded, sessionsOf } from './sessions.ts'

/**
 * Ends the sessions in the same write that disables an account, no matter which route or code of this app makes it. No
 * sign-in gets in between: a later one finds the account disabled.
 */
export function endSessionsWhenDisabling(auth: AuthInstance): void {
  const { engine, settings, names, now } = auth
  const { disabledField } = settings
  if (disabledField === undefined) return
  engine.writeAlong((changes) => {
    if (changes[disabledField] !== true) return {}
    return settings.refresh ? sessionsEnded(auth) : { [names.passwordChangedAt]: new Date(now()) }
  })
}

/**
 * Ends the sessions of `user`, who was disabled when read. If something other than this app disabled the account, its
 * sessions are still there. All of them are from before, because no one can sign in to a disabled account. They end one
 * by one, so that a session of a user who is enabled and signs in again meanwhile stays.
 */
export async function endSessionsOfDisabled(auth: AuthInstance, user: Fields): Promise<void> {
  const { engine } = auth
  for (const { id } of sessionsOf(auth, user)) {
    await engine.stored.update(withId(String(user._id)), oneEnded(auth, id))
  }
}

/**
 * Ends the access tokens of `user`, who was disabled when read, if there are no sessions to end. Tokens name the time
 * of the last password change; `named` is the time in the refused token.
 */
export async function endTokensOfDisabled(
  auth: AuthInstance,
  user: Fields,
  named: number,
): Promise<void> {
  const { engine, names } = auth
  const field = names.passwordChangedAt
  if (named !== changedAt(auth, user)) return
  await engine.stored.update(
    withId(String(user._id)),
    { set: { [field]: nextChange(auth, user) } },
    { expect: { [field]: user[field] } },
  )
}
