/**
 * `POST /login`.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import { valueResponse } from '../../http/respond.ts'
import type { Fields } from '../../ports/store.ts'
import { accountFinder, credential, readBody, typedAccount } from '../credentials.ts'
import { endSessionsOfDisabled } from '../disabled.ts'
import { report } from '../events.ts'
import { forgiveGuess, guessPassword, locksNow, signInAfterGuess } from '../guess.ts'
import { lockLeft, type Reservation } from '../lockout.ts'
import { checkPasswordSize } from '../passwords.ts'
import { isDisabled, type Realm } from '../realm.ts'
import {
  emailNotConfirmed,
  identifierRequired,
  invalidCredentials,
  notActive,
  passwordRequired,
  tooManyAttempts,
} from '../refusals.ts'
import { isRefusal, runOnLogin } from '../sign-in.ts'
import { awaitsProof } from '../verification.ts'
import { visitOf } from '../visit.ts'

/** Signs in by identifier and password. */
export async function login(realm: Realm, request: ApiRequest): Promise<Response> {
  const body = await readBody(realm, request)
  const password = credential(body, 'password')
  const find = accountFinder(realm, body)
  if (password === undefined || password === '') throw passwordRequired()
  if (!find) throw identifierRequired()
  if (password !== null) checkPasswordSize(password)
  const asker = { client: visitOf(request).client, account: typedAccount(realm, body) }
  return realm.hashing.admit(async (turn) => {
    const user = await find()
    const guess = await guessPassword(realm, user, password)
    turn.end()
    if (!guess.opened) {
      report(realm, request, 'sign-in-failed', user?._id)
      if (guess.locks) report(realm, request, 'locked', user?._id)
      throw refusal(realm, guess.locked ? user : undefined)
    }
    const { reservation } = guess
    await checkFurther(realm, reservation, request)
    const data = await signInAfterGuess(realm, reservation, String(password), request)
    if (!data) throw invalidCredentials()
    report(realm, request, 'signed-in', reservation.user._id)
    return valueResponse(data)
  }, asker)
}

/** What must hold beside the password. Throws what refuses the sign-in. */
async function checkFurther(
  realm: Realm,
  reservation: Reservation,
  request: ApiRequest,
): Promise<void> {
  const { _id } = reservation.user
  if (isDisabled(realm, reservation.user)) {
    report(realm, request, 'sign-in-failed', _id)
    await forgiveGuess(realm, reservation)
    await endSessionsOfDisabled(realm, reservation.user)
    throw notActive()
  }
  if (awaitsProof(realm, reservation.user)) {
    await forgiveGuess(realm, reservation)
    throw emailNotConfirmed()
  }
  try {
    await runOnLogin(realm, reservation.user, request)
  } catch (error) {
    // Whom onLogin refuses may be guessing at a second factor; a failure of its own is nobody's guess.
    report(realm, request, 'sign-in-failed', _id)
    if (!isRefusal(error)) await forgiveGuess(realm, reservation)
    else if (locksNow(realm, reservation)) report(realm, request, 'locked', _id)
    throw error
  }
}

/** The same for everybody, unless the deployer wants locked accounts to be told apart. */
function refusal(realm: Realm, locked: Fields | undefined): Error {
  return locked && realm.settings.lockout.reveal
    ? tooManyAttempts(lockLeft(realm, locked))
    : invalidCredentials()
}
