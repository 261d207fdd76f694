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
import type { AuthInstance } from '../instance/instance.ts'
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
import { signedIn } from './signed-in.ts'

/** The route `login`. */
export const loginRoute: AuthRoute<'login'> = {
  name: 'login',
  method: 'POST',
  path: '/login',
  access: 'anyone',
  hidesAccounts: true,
  handler: (auth) => (request) => login(auth, request),
}

/** Signs in by identifier and password. */
async function login(auth: AuthInstance, request: ApiRequest): Promise<Response> {
  const body = await readBody(auth, request)
  const ticket = credential(body, 'ticket')
  if (ticket !== undefined) return secondStep(auth, ticket, body, request)
  const password = credential(body, 'password')
  const find = accountFinder(auth, body)
  if (password === undefined || password === '') throw passwordRequired()
  if (!find) throw identifierRequired()
  if (password !== null) checkPasswordSize(password)
  const { client } = visitOf(request)
  const isKnown = async () => isKnownTo(auth, await find(), client)
  const asker = { client, account: typedAccount(auth, body), isKnown }
  return auth.hashing.admit(async (turn) => {
    const user = await find()
    const guess = await guessPassword(auth, user, password, request)
    turn.end()
    if (!guess.opened) throw refusal(auth, request, guess.locked ? user : undefined)
    const { reservation } = guess
    await checkFurther(auth, reservation, request)
    const asked = await checkedByHook(auth, reservation, request)
    const set = await rehashed(auth, reservation, String(password))
    if (asked) {
      const user = (await notePassword(auth, reservation, set)) ?? reservation.user
      return secondStepResponse(auth, user, asked, request)
    }
    const data = await signInAfterGuess(auth, reservation, request, { set })
    if (!data) throw invalidCredentials()
    await signedIn(auth, reservation.user, request)
    return valueResponse(data)
  }, asker)
}

/** Signs in by the ticket of a first step and the answer that `onLogin` asks for. */
async function secondStep(
  auth: AuthInstance,
  text: string | null,
  body: Fields,
  request: ApiRequest,
): Promise<Response> {
  const ticket = await ticketIn(auth, text, request)
  if (!ticket) throw invalidTicket()
  const { user, provider, expiresAt } = ticket
  const reservation = await reserveAnswer(auth, user)
  if (!reservation) {
    report(auth, request, 'sign-in-failed', user._id)
    throw refusal(auth, request, user)
  }
  if (!ticket.isGoodFor(reservation.user)) throw invalidTicket()
  await checkFurther(auth, reservation, request)
  const asked = await checkedByHook(auth, reservation, request, body)
  // Counted whether it was right or not: only onLogin knows, and it may ask again after a wrong one.
  if (asked) return secondStepResponse(auth, reservation.user, asked, request, provider)
  // Used up first, so that two parallel answers open only one session.
  const { usedTokens } = auth
  if (!(await usedTokens?.use({ signed: ticket.text, expiresAt }))) throw invalidTicket()
  if (usedTokens) visitOf(request).later(usedTokens.sweep())
  const expect = provider ? { [provider.idField]: user[provider.idField] } : {}
  const data = await signInAfterGuess(auth, reservation, request, { expect })
  if (!data) throw invalidTicket()
  await signedIn(auth, reservation.user, request)
  return valueResponse(provider ? { ...data, provider: provider.name } : data)
}

/** Checks everything besides the password. Throws the refusal of the sign-in. */
async function checkFurther(
  auth: AuthInstance,
  reservation: Reservation,
  request: ApiRequest,
): Promise<void> {
  const { user } = reservation
  const isOff = isDisabled(auth, user)
  if (!isOff && !awaitsProof(auth, user)) return
  report(auth, request, 'sign-in-failed', user._id)
  await forgiveGuess(auth, reservation)
  if (!isOff) throw emailNotConfirmed()
  await endSessionsOfDisabled(auth, user)
  throw notActive()
}

/** Runs `onLogin`: returns the second step that it asks for, and throws its refusal of the sign-in. */
async function checkedByHook(
  auth: AuthInstance,
  reservation: Reservation,
  request: ApiRequest,
  answer?: Fields,
): Promise<SecondStepRequired | undefined> {
  const { user } = reservation
  try {
    return await runOnLogin(auth, user, request, answer && { answer })
  } catch (error) {
    // A user refused by onLogin may be guessing at a second factor; if onLogin itself fails, that is not a guess.
    report(auth, request, 'sign-in-failed', user._id)
    if (!isRefusal(error)) await forgiveGuess(auth, reservation)
    else if (reservation.locks) report(auth, request, 'locked', user._id)
    throw error
  }
}

/** The same for everyone, unless your options reveal which accounts are locked. */
function refusal(auth: AuthInstance, request: ApiRequest, locked: Fields | undefined): Error {
  return locked && auth.settings.lockout.reveal
    ? tooManyAttempts(lockLeft(auth, locked, visitOf(request).client))
    : invalidCredentials()
}
