/**
 * A guess at a password: counted first, then evaluated, in the same time whatever the account is.
 *
 * @module
 */

import type { ApiRequest } from '../http/request.ts'
import { withId } from '../ports/filter.ts'
import type { Change, Fields } from '../ports/store.ts'
import { cleared, type Reservation, reserveGuess, reserveNothing } from './lockout.ts'
import type { Realm } from './realm.ts'
import { type SignInData, signIn } from './sign-in.ts'

/** What became of a guess. */
export type Guess =
  | { readonly opened: true; readonly reservation: Reservation }
  | {
      readonly opened: false
      /** Whether the account was locked already. */
      readonly locked: boolean
      /** Whether this guess has locked it. */
      readonly locks?: boolean
    }

/**
 * Evaluates a guess at the password of `user`. Unknown, wrong, locked and social-only accounts take the same
 * steps: one write, one hash computation (spec 5.3).
 */
export async function guessPassword(
  realm: Realm,
  user: Fields | undefined,
  plain: string | null | undefined,
): Promise<Guess> {
  const { passwords, names } = realm
  const guessed = plain ?? ''
  if (!user) {
    await reserveNothing(realm)
    await passwords.verify(guessed, undefined)
    return { opened: false, locked: false }
  }
  const reservation = await reserveGuess(realm, user)
  if (!reservation) {
    await reserveNothing(realm, String(user._id))
    await passwords.verify(guessed, undefined)
    return { opened: false, locked: true }
  }
  const stored = reservation.user[names.password]
  const evaluable = typeof stored === 'string' && typeof plain === 'string'
  const opened = await passwords.verify(guessed, evaluable ? stored : undefined)
  if (opened) return { opened, reservation }
  return { opened, locked: false, locks: locksNow(realm, reservation) }
}

/** Whether a guess that was counted is the last one, which has locked the account. */
export function locksNow({ settings }: Realm, { count }: Reservation): boolean {
  return count >= settings.lockout.maxAttempts
}

/**
 * Takes a right guess back whose sign-in was refused by other rules, and no guess before it: a refusal must not make
 * room for more of them.
 */
export async function forgiveGuess(realm: Realm, { user, count }: Reservation): Promise<void> {
  const { records, names } = realm
  const { failedLoginAttempts: field, lockedUntil } = names
  const change: Change = { set: { [field]: count - 1 }, unset: [lockedUntil] }
  await records.stored.update(withId(String(user._id)), change, { expect: { [field]: count } })
}

/** Clears the lockout after a right guess that signs nobody in. Guesses counted meanwhile stay counted. */
export async function clearGuesses(realm: Realm, { user, count }: Reservation): Promise<void> {
  const expect = { [realm.names.failedLoginAttempts]: count }
  await realm.records.stored.update(withId(String(user._id)), cleared(realm), { expect })
}

/**
 * Opens the session after a right guess and clears the lockout; undefined if the account has changed since.
 * Guesses that were counted in the meantime stay counted: they are still being evaluated.
 */
export async function signInAfterGuess(
  realm: Realm,
  { user, count }: Reservation,
  plain: string,
  request: ApiRequest,
): Promise<SignInData | undefined> {
  const { names, passwords } = realm
  const stored = String(user[names.password])
  const rehashed = passwords.needsRehash(stored)
    ? { [names.password]: await passwords.hash(plain) }
    : {}
  const { set, unset } = cleared(realm)
  const clearing: Change = { set: { ...set, ...rehashed }, unset }
  const expect = { [names.failedLoginAttempts]: count }
  const data = await signIn(realm, user, request, { change: clearing, expect })
  if (data) return data
  const keeping: Change = { set: rehashed, increment: { [names.failedLoginAttempts]: 0 } }
  return signIn(realm, user, request, { change: keeping })
}
