/** `POST /login`: from the credentials to the response. `POST /login/confirm` takes the same of the signed-in user. */

import { valueResponse } from '../../http/response/respond.ts'
import type { Fields } from '../../ports/store/records.ts'
import { checkPasswordSize, credential, namedAccount, readBody } from '../accounts/credentials.ts'
import { tell } from '../delivery/messages.ts'
import type { Auth, AuthRequest, SignIn } from '../instance/instance.ts'
import type { Reservation } from '../instance/lockout.ts'
import { type AskedStep, askSecondStep, readTicket } from '../instance/tickets.ts'
import type { EndTurn } from '../keys/hashing.ts'
import * as refuse from '../refusals.ts'
import { report } from '../request-info.ts'
import type { MethodSignIn } from '../setup/method.ts'
import { SecondStepRequired } from '../setup/options.ts'
import { guessPassword, inTurn, isRefusal, openSession, runOnLogin } from '../sign-in.ts'

/**
 * Signs in by identifier and password, or by a method of `methods`. With `own`, the id of the signed-in user, it confirms
 * their session instead, and every other account is as if unknown.
 */
export async function login(auth: AuthRequest, own?: string): Promise<Response> {
  const { names, passwords } = auth
  const body = await readBody(auth)
  for (const { signIn } of auth.methods) {
    if (signIn?.takes(body)) return signIn.respond(body, auth.request, own)
  }
  const ticket = credential(body, 'ticket')
  if (ticket !== undefined) return loginWithTicket(auth, ticket, body, own)

  // The credentials.
  const password = credential(body, 'password')
  const account = namedAccount(auth, body, own)
  if (password === undefined || password === '') throw refuse.passwordRequired()
  if (!account) throw refuse.identifierRequired()
  if (password !== null) checkPasswordSize(password)

  // Its turn to hash.
  return inTurn(auth, account, async (endTurn) => {
    // The guess: counted in the record, then compared with the hash.
    const user = await account.find()
    const guess = await guessPassword(auth, user, password)
    if (!guess.isRight) throw refusal(auth, guess.isLocked ? user : undefined)

    // What else may refuse the account, and a second step.
    const { reservation } = guess
    await checkGuessed(auth, reservation)
    // A hook may be slow. Otherwise others wait: a right guess stays counted until the end, and too many lock an account.
    const step = auth.settings.onLogin && (await askHook(auth, reservation, undefined, endTurn))
    const asked = await askedStep(auth, reservation.user, step)

    // A hash of today's kind, if it is of another one.
    const { [names.password]: hash } = reservation.user
    const isOld = passwords.needsRehash(String(hash))
    const set = isOld ? { [names.password]: await passwords.hash(String(password)) } : {}
    if (asked) return askForStep(auth, reservation, asked, set)

    // The session, in one conditional write.
    const response = await respondSignedIn(auth, reservation.user, { reservation, set, own })
    if (!response) throw refuse.invalidCredentials()
    return response
  })
}

/** Asks for the second step. The password was right: each answer is counted as a guess instead. */
async function askForStep(
  auth: AuthRequest,
  reservation: Reservation,
  step: AskedStep,
  set: Fields,
): Promise<Response> {
  const how = auth.lockout.countsAnswers ? 'clear' : 'forgive'
  const noted = await auth.lockout.takeBack(reservation, how, set)
  return askSecondStep(auth, noted ?? reservation.user, step)
}

/** Signs in by the ticket of a first step and the answer that `onLogin` asks for. */
async function loginWithTicket(
  auth: AuthRequest,
  text: string | null,
  body: Fields,
  own: string | undefined,
): Promise<Response> {
  auth.factors?.checkAnswers(body)
  const ticket = await readTicket(auth, text)
  if (!ticket) throw refuse.invalidTicket()
  const { user, provider, expiresAt } = ticket
  if (own !== undefined && own !== String(user._id)) throw refuse.invalidTicket()
  const reservation = await auth.lockout.reserveAnswer(user, auth.client, provider)
  if (!reservation) {
    report(auth, 'sign-in-failed', user._id)
    throw refusal(auth, user)
  }
  if (!ticket.isGoodFor(reservation.user)) throw refuse.invalidTicket()
  await checkGuessed(auth, reservation)
  const isStrong = ticket.isStrong || (await checkFactor(auth, reservation, body))
  const step = await askHook(auth, reservation, body)
  // Counted whether it was right or not: only onLogin knows, and it may ask again after a wrong one.
  if (step) {
    const asked = { step, isStrong, provider, expect: ticket.expect }
    return askSecondStep(auth, reservation.user, asked)
  }
  // Used up first, so that two parallel answers open only one session.
  const { usedTokens } = auth
  if (!(await usedTokens?.use({ signed: ticket.text, expiresAt }))) throw refuse.invalidTicket()
  if (usedTokens) auth.context.waitUntil(usedTokens.sweep())
  const link = provider ? { [provider.idField]: user[provider.idField] } : {}
  const expect = { ...ticket.expect, ...link, ...eraOf(auth, reservation.user) }
  const more = provider && { provider: provider.name }
  const ending = { reservation, expect, more, own, isStrong }
  const response = await respondSignedIn(auth, reservation.user, ending)
  if (!response) throw refuse.invalidTicket()
  return response
}

/** Whether a second factor was asked for. Throws a 401 if the answer is wrong; its try has been counted. */
async function checkFactor(
  auth: AuthRequest,
  { user, locks }: Reservation,
  body: Fields,
): Promise<boolean> {
  const { factors } = auth
  const asked = factors ? await factors.asked(user) : []
  if (!factors || asked.length === 0) return false
  if (await factors.isAnswered(user, asked, body, auth.request)) return true
  report(auth, 'sign-in-failed', user._id)
  if (locks) report(auth, 'locked', user._id)
  throw refuse.invalidCredentials()
}

/** A takeover meanwhile ends the factors that a sign-in went by; one that was made signed in changes no password. */
export function eraOf({ users, machinery }: Auth, user: Fields): Fields {
  const { takeovers } = users.names
  return machinery ? { [takeovers]: user[takeovers] } : {}
}

/** What a sign-in of `user` is asked for, if anything is: by the hook, and by factors unless one was shown. */
export async function askedStep(
  auth: Pick<Auth, 'factors'>,
  user: Fields,
  step: SecondStepRequired | undefined,
  isStrong = false,
): Promise<AskedStep | undefined> {
  const factors = isStrong || !auth.factors ? [] : await auth.factors.asked(user)
  if (!step && factors.length === 0) return undefined
  return { step: step ?? new SecondStepRequired(), factors }
}

interface Ending extends SignIn {
  /** Set if it confirms the present session, instead of opening one. */
  readonly own?: string | undefined
  readonly more?: Fields | undefined
}

/** Opens the session, or confirms the present one, and responds; undefined if the account changes meanwhile. */
export async function respondSignedIn(
  auth: AuthRequest,
  user: Fields,
  { own, more, ...signIn }: Ending,
): Promise<Response | undefined> {
  if (own !== undefined) return auth.machinery?.confirmSession(auth, user, signIn)
  const signedIn = await openSession(auth, user, signIn)
  if (!signedIn) return undefined
  report(auth, 'signed-in', user._id)
  if (signedIn.isNewClient) tell(auth, user, 'newClient')
  return valueResponse({ ...signedIn.data, ...more })
}

/** Throws what refuses the account besides the password. */
async function checkGuessed(auth: AuthRequest, reservation: Reservation): Promise<void> {
  try {
    await checkAccount(auth, reservation.user)
  } catch (error) {
    report(auth, 'sign-in-failed', reservation.user._id)
    // A refusal must not allow more guesses: no earlier one is taken back.
    await auth.lockout.takeBack(reservation, 'forgive')
    throw error
  }
}

/** Runs `onLogin`: returns the second step that it asks for, and throws its refusal of the sign-in. */
async function askHook(
  auth: AuthRequest,
  reservation: Reservation,
  answer?: Fields,
  endTurn?: EndTurn,
): Promise<SecondStepRequired | undefined> {
  const { user } = reservation
  endTurn?.()
  try {
    return await runOnLogin(auth, user, answer && { answer })
  } catch (error) {
    // A user refused by onLogin may be guessing at a second factor; if onLogin itself fails, that is not a guess.
    report(auth, 'sign-in-failed', user._id)
    if (!isRefusal(error)) await auth.lockout.takeBack(reservation, 'forgive')
    else if (reservation.locks) report(auth, 'locked', user._id)
    throw error
  }
}

/** The same for everyone, unless your options reveal which accounts are locked. */
function refusal({ lockout, settings, client }: AuthRequest, locked: Fields | undefined): Error {
  return locked && settings.lockout.reveal
    ? refuse.tooManyAttempts(lockout.secondsLeft(locked, client))
    : refuse.invalidCredentials()
}

/** Signs `user` in by a method, which has checked who they are. */
export async function signInBy(
  auth: AuthRequest,
  user: Fields,
  { isStrong = false, expect = {}, own }: MethodSignIn = {},
): Promise<Response> {
  if (own !== undefined && own !== String(user._id)) throw refuse.invalidCredentials()
  await checkAccount(auth, user)
  // A lock holds for every method, or the right guess at another one would get around it.
  if (auth.lockout.isLocked(user, auth.client)) throw refuse.invalidCredentials()
  const step = await runOnLogin(auth, user)
  const asked = await askedStep(auth, user, step, isStrong)
  if (asked) return askSecondStep(auth, user, { ...asked, isStrong, expect })
  const ending = { expect: { ...expect, ...eraOf(auth, user) }, isStrong, own }
  const response = await respondSignedIn(auth, user, ending)
  if (!response) throw refuse.invalidCredentials()
  return response
}

/** Throws the refusal of an account that may not sign in, or not yet. */
export async function checkAccount(
  { users, identifiers, sessions }: Auth,
  user: Fields,
): Promise<void> {
  if (users.isDisabled(user)) {
    await sessions.endThoseOfDisabled(user)
    throw refuse.notActive()
  }
  if (identifiers.awaitsProof(user)) throw refuse.emailNotConfirmed()
}
