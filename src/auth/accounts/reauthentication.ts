/**
 * What it takes, beyond a token, to change an identifier or delete an account: the current password, or a recent
 * sign-in if there is none. A stolen token is not enough (ASVS 7.5.1).
 */

import type { ApiRequest } from '../../http/request.ts'
import type { Fields } from '../../ports/store.ts'
import type { Asker } from '../keys/bounded-hashing.ts'
import { checkPasswordSize } from '../keys/passwords.ts'
import {
  currentPasswordIncorrect,
  currentPasswordRequired,
  invalidToken,
  recentSignInRequired,
} from '../refusals.ts'
import { requestInfo } from '../request-info/request-info.ts'
import { isRecent, visitOf } from '../sign-in/factors.ts'
import { guessPassword } from '../sign-in/guess-password.ts'
import { credential } from './credentials.ts'
import type { AccountParts } from './proven-identifiers.ts'

/**
 * Checks `currentPassword` in `body` for the signed-in user; a wrong one counts towards the lockout. Returns the user
 * as checked: the write that follows must expect its `passwordState`. Throws a 401 or 403.
 */
export async function reauthenticate(
  parts: AccountParts,
  body: Fields,
  request: ApiRequest,
): Promise<Fields> {
  const { users, lockout, hashing } = parts
  const user = await users.byId(request.auth?.userId)
  if (!user) throw invalidToken()
  if (typeof user[users.names.password] !== 'string') {
    if (!isRecent(users, visitOf(parts, user, request)?.at)) throw recentSignInRequired()
    return user
  }
  const current = credential(body, 'currentPassword')
  if (current === undefined || current === '') throw currentPasswordRequired()
  if (current !== null) checkPasswordSize(current)
  const guess = await hashing.admit(
    () => guessPassword(parts, user, current, request),
    signedInAsker(request),
  )
  if (!guess.isRight) throw currentPasswordIncorrect()
  await lockout.takeBack(guess.reservation, 'clear')
  return guess.reservation.user
}

/** The `Asker` of a request behind `requireAuth`: the token shows that the client belongs to the account. */
export function signedInAsker(request: ApiRequest): Asker {
  return {
    client: requestInfo(request).client,
    account: String(request.auth?.userId),
    isKnown: () => true,
  }
}
