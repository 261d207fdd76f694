/**
 * What it takes, beyond a token, to change an identifier or delete an account: the current password, or a recent
 * sign-in if there is none. A stolen token is not enough (ASVS 7.5.1).
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import type { Fields } from '../../ports/store.ts'
import type { AuthInstance } from '../instance/instance.ts'
import { userById } from '../instance/user.ts'
import type { Asker } from '../keys/bounded-hashing.ts'
import { checkPasswordSize } from '../keys/passwords.ts'
import {
  currentPasswordIncorrect,
  currentPasswordRequired,
  invalidToken,
  recentSignInRequired,
} from '../refusals.ts'
import { clearGuesses, guessPassword } from '../sign-in/password-attempt.ts'
import { sessionsOf } from '../sign-in/sessions.ts'
import { visitOf } from '../visit/visit.ts'
import { credential } from './credentials.ts'

const RECENT_MS = 10 * 60_000

/**
 * Checks `currentPassword` in `body` for the signed-in user; a wrong one counts towards the lockout. Returns the user
 * as checked: the write that follows must expect `signInState`. Throws a 401 or 403.
 */
export async function reauthenticated(
  auth: AuthInstance,
  body: Fields,
  request: ApiRequest,
): Promise<Fields> {
  const user = await userById(auth, String(request.auth?.userId))
  if (!user) throw invalidToken()
  if (typeof user[auth.names.password] !== 'string') {
    if (!isRecent(auth, user, request)) throw recentSignInRequired()
    return user
  }
  const current = credential(body, 'currentPassword')
  if (current === undefined || current === '') throw currentPasswordRequired()
  if (current !== null) checkPasswordSize(current)
  const guess = await auth.hashing.admit(
    () => guessPassword(auth, user, current, request),
    signedInAsker(request),
  )
  if (!guess.opened) throw currentPasswordIncorrect()
  await clearGuesses(auth, guess.reservation)
  return guess.reservation.user
}

/** The `Asker` of a request behind `requireAuth`: the token shows that the client belongs to the account. */
export function signedInAsker(request: ApiRequest): Asker {
  return {
    client: visitOf(request).client,
    account: String(request.auth?.userId),
    isKnown: () => true,
  }
}

/** What must still be true when the change is written for which the user was reauthenticated. */
export function signInState({ names }: AuthInstance, user: Fields): Fields {
  const fields = [names.password, names.passwordChangedAt]
  return Object.fromEntries(fields.map((field) => [field, user[field]]))
}

/** Whether the token's session began a short time ago. Without sessions every token comes from a sign-in. */
function isRecent(auth: AuthInstance, user: Fields, request: ApiRequest): boolean {
  const { sid, iat, jti } = request.auth?.claims ?? {}
  const session = sessionsOf(auth, user).find(({ id }) => id === sid)
  // A token of another service may come from a refresh.
  if (!session && jti === undefined) return false
  const began = session ? session.createdAt.getTime() : Number(iat) * 1000
  return began > auth.now() - RECENT_MS
}
