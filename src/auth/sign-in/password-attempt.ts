/**
 * A guess at a password: counted first, then evaluated, in the same time for every account.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import { withId } from '../../ports/filter.ts'
import type { Change, Fields } from '../../ports/store.ts'
import type { AuthInstance } from '../instance/instance.ts'
import { userById } from '../instance/user.ts'
import { report } from '../visit/security-events.ts'
import { visitOf } from '../visit/visit.ts'
import {
  countsAnswers,
  isEnded,
  type Reservation,
  reserveGuess,
  reserveNothing,
} from './lockout.ts'
import { type SignInData, signIn } from './sign-in.ts'

/** The outcome of a guess. */
export type Guess =
  | { readonly opened: true; readonly reservation: Reservation }
  /** `locked`: whether the account was already locked for this client. */
  | { readonly opened: false; readonly locked: boolean }

/**
 * Evaluates a guess at the password of `user`, and reports a wrong one. Unknown, wrong, locked and social-only accounts
 * take the same steps: one write, one hash computation (spec 5.3).
 */
export async function guessPassword(
  auth: AuthInstance,
  user: Fields | undefined,
  plain: string | null | undefined,
  request: ApiRequest,
): Promise<Guess> {
  const { passwords, names } = auth
  const { client } = visitOf(request)
  const reservation = user && (await reserveGuess(auth, user, client))
  if (!reservation) await reserveNothing(auth, user ? undefined : client)
  const stored = reservation?.user[names.password]
  const evaluable = typeof stored === 'string' && typeof plain === 'string'
  const opened = await passwords.verify(plain ?? '', evaluable ? stored : undefined)
  if (reservation && opened) return { opened, reservation }
  report(auth, request, 'sign-in-failed', user?._id)
  if (reservation?.locks) report(auth, request, 'locked', user?._id)
  // Nothing tells that password sign-in has ended: no wait ends that.
  const ended = user !== undefined && isEnded(auth, user, client)
  return { opened: false, locked: user !== undefined && !reservation && !ended }
}

/**
 * Takes back a right guess whose sign-in was refused by other rules, but no earlier guess: a refusal must not allow
 * more guesses.
 */
export async function forgiveGuess(auth: AuthInstance, reservation: Reservation): Promise<void> {
  await take(auth, reservation, reservation.forgive)
}

/**
 * Records that a password was right and a second step follows; each answer to that is then counted as a guess. `set` is
 * written in the same step. Returns the user after it; undefined if others were counted meanwhile.
 */
export function notePassword(
  auth: AuthInstance,
  reservation: Reservation,
  set: Fields,
): Promise<Fields | undefined> {
  const { clear, forgive } = reservation
  return take(auth, reservation, countsAnswers(auth) ? clear : forgive, set)
}

/** Clears the lockout after a right guess that signs no one in. Guesses counted meanwhile stay counted. */
export async function clearGuesses(auth: AuthInstance, reservation: Reservation): Promise<void> {
  await take(auth, reservation, reservation.clear)
}

/** How often others may write the record meanwhile. */
const MAX_TRIES = 5

async function take(
  auth: AuthInstance,
  { user }: Reservation,
  stepOf: Reservation['clear'],
  set: Fields = {},
): Promise<Fields | undefined> {
  const { engine, names } = auth
  let read: Fields | undefined = user
  for (let tries = 0; read && tries < MAX_TRIES; tries += 1) {
    const step = stepOf(read)
    if (!step) return undefined
    const change: Change = { ...step.change, set: { ...step.change.set, ...set } }
    const expect = { ...step.expect, [names.password]: user[names.password] }
    const after = await engine.stored.update(withId(String(user._id)), change, { expect })
    if (after) return after
    read = await userById(auth, String(user._id))
  }
  return undefined
}

/**
 * Opens the session after a right guess and clears the count; undefined if the account has changed since. Guesses
 * counted in the meantime stay counted, because they are still being evaluated. `set` is written in the same step, and
 * what `expect` holds must still be true.
 */
export async function signInAfterGuess(
  auth: AuthInstance,
  { user, clear }: Reservation,
  request: ApiRequest,
  { set = {}, expect = {} }: { readonly set?: Fields; readonly expect?: Fields } = {},
): Promise<SignInData | undefined> {
  let read: Fields | undefined = user
  for (let tries = 0; read && tries < MAX_TRIES; tries += 1) {
    const step = clear(read)
    if (!step) break
    const change: Change = { ...step.change, set: { ...step.change.set, ...set } }
    const signed = { change, expect: { ...step.expect, ...expect } }
    const data = await signIn(auth, user, request, signed)
    if (data) return data
    read = await userById(auth, String(user._id))
  }
  const keeping: Change = { set, increment: { [auth.names.failedLoginAttempts]: 0 } }
  return signIn(auth, user, request, { change: keeping, expect })
}

/** The new hash of a right password, if it was hashed in another way than passwords are now. */
export async function rehashed(
  { names, passwords }: AuthInstance,
  { user }: Reservation,
  plain: string,
): Promise<Fields> {
  const isOld = passwords.needsRehash(String(user[names.password]))
  return isOld ? { [names.password]: await passwords.hash(plain) } : {}
}
