/**
 * `POST /login`.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import { valueResponse } from '../../http/respond.ts'
import type { Fields } from '../../ports/store.ts'
import { accountFinder, credential, readBody, typedAccount } from '../accounts/credentials.ts'
import { awaitsProof } from '../delivery/verification.ts'
import type { Realm } from '../instance/instance.ts'
import { isDisabled } from '../instance/user.ts'
import { checkPasswordSize } from '../keys/passwords.ts'
import {
  emailNotConfirmed,
  identifierRequired,
  invalidCredentials,
  invalidTicket,
  notActive,
  passwordRequired,
  tooManyAttempts,
} from '../refusals.ts'
import type { SecondStepRequired } from '../setup/sign-in-step.ts'
import { endSessionsOfDisabled } from '../sign-in/disabled.ts'
import { lockLeft, type Reservation, reserveAnswer } from '../sign-in/lockout.ts'
import {
  forgiveGuess,
  guessPassword,
  notePassword,
  rehashed,
  signInAfterGuess,
} from '../sign-in/password-attempt.ts'
import { secondStepResponse, ticketIn } from '../sign-in/second-step.ts'
import { isRefusal, runOnLogin } from '../sign-in/sign-in.ts'
import { isKnownTo } from '../visit/known-clients.ts'
import { report } from '../visit/security-events.ts'
import { visitOf } from '../visit/visit.ts'
import type { AuthRoute } from './route.ts'

/** The row of `login`. */
export const loginRoute: AuthRoute<'login'> = {
  name: 'login',
  method: 'POST',
  path: '/login',
  access: 'anyone',
  handler: (realm) => (request) => login(realm, request),
}

/** Signs in by identifier and password. */
async function login(realm: Realm, request: ApiRequest): Promise<Response> {
  const body = await readBody(realm, request)
  const ticket = credential(body, 'ticket')
  if (ticket !== undefined) return secondStep(realm, ticket, body, request)
  const password = credential(body, 'password')
  const find = accountFinder(realm, body)
  if (password === undefined || password === '') throw passwordRequired()
  if (!find) throw identifierRequired()
  if (password !== null) checkPasswordSize(password)
  const { client } = visitOf(request)
  const isKnown = async () => isKnownTo(realm, await find(), client)
  const asker = { client, account: typedAccount(realm, body), isKnown }
  return realm.hashing.admit(async (turn) => {
    const user = await find()
    const guess = await guessPassword(realm, user, password, request)
    turn.end()
    if (!guess.opened) throw refusal(realm, request, guess.locked ? user : undefined)
    const { reservation } = guess
    await checkFurther(realm, reservation, request)
    const asked = await checkedByHook(realm, reservation, request)
    const set = await rehashed(realm, reservation, String(password))
    if (asked) {
      const user = (await notePassword(realm, reservation, set)) ?? reservation.user
      return secondStepResponse(realm, user, asked, request)
    }
    const data = await signInAfterGuess(realm, reservation, request, { set })
    if (!data) throw invalidCredentials()
    report(realm, request, 'signed-in', reservation.user._id)
    return valueResponse(data)
  }, asker)
}

/** Signs in by the ticket of a first step and what `onLogin` asks for beside it. */
async function secondStep(
  realm: Realm,
  text: string | null,
  body: Fields,
  request: ApiRequest,
): Promise<Response> {
  const ticket = await ticketIn(realm, text, request)
  if (!ticket) throw invalidTicket()
  const { user, provider, expiresAt } = ticket
  const reservation = await reserveAnswer(realm, user)
  if (!reservation) {
    report(realm, request, 'sign-in-failed', user._id)
    throw refusal(realm, request, user)
  }
  if (!ticket.isGoodFor(reservation.user)) throw invalidTicket()
  await checkFurther(realm, reservation, request)
  const asked = await checkedByHook(realm, reservation, request, body)
  // Counted, whether it was right or not: only onLogin knows, and it may ask again for a wrong one.
  if (asked) return secondStepResponse(realm, reservation.user, asked, request, provider)
  // Used up before, so that two answers in parallel open one session.
  const { usedTokens } = realm
  if (!(await usedTokens?.use({ signed: ticket.text, expiresAt }))) throw invalidTicket()
  if (usedTokens) visitOf(request).later(usedTokens.sweep())
  const expect = provider ? { [provider.idField]: user[provider.idField] } : {}
  const data = await signInAfterGuess(realm, reservation, request, { expect })
  if (!data) throw invalidTicket()
  report(realm, request, 'signed-in', user._id)
  return valueResponse(provider ? { ...data, provider: provider.name } : data)
}

/** What must hold beside the password. Throws what refuses the sign-in. */
async function checkFurther(
  realm: Realm,
  reservation: Reservation,
  request: ApiRequest,
): Promise<void> {
  const { user } = reservation
  const isOff = isDisabled(realm, user)
  if (!isOff && !awaitsProof(realm, user)) return
  report(realm, request, 'sign-in-failed', user._id)
  await forgiveGuess(realm, reservation)
  if (!isOff) throw emailNotConfirmed()
  await endSessionsOfDisabled(realm, user)
  throw notActive()
}

/** Asks `onLogin`: gives the second step that it asks for, and throws what refuses the sign-in. */
async function checkedByHook(
  realm: Realm,
  reservation: Reservation,
  request: ApiRequest,
  answer?: Fields,
): Promise<SecondStepRequired | undefined> {
  const { user } = reservation
  try {
    return await runOnLogin(realm, user, request, answer && { answer })
  } catch (error) {
    // Whom onLogin refuses may be guessing at a second factor; a failure of its own is nobody's guess.
    report(realm, request, 'sign-in-failed', user._id)
    if (!isRefusal(error)) await forgiveGuess(realm, reservation)
    else if (reservation.locks) report(realm, request, 'locked', user._id)
    throw error
  }
}

/** The same for everybody, unless the deployer wants locked accounts to be told apart. */
function refusal(realm: Realm, request: ApiRequest, locked: Fields | undefined): Error {
  return locked && realm.settings.lockout.reveal
    ? tooManyAttempts(lockLeft(realm, locked, visitOf(request).client))
    : invalidCredentials()
}
