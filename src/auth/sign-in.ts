/**
 * What sign-ins have in common: the guess at a password, the hook of the app, and the end of every sign-in, one conditional
 * write, which opens the session, clears the guesses and remembers the client.
 */

import { checkTime, inTime } from '../http/deadline.ts'
import { HttpError } from '../http/errors/errors.ts'
import { messageResponse, valueResponse } from '../http/response/respond.ts'
import type { Fields } from '../ports/store/records.ts'
import { holds } from '../records/engine/known-updates.ts'
import { visitOf } from './instance/factors.ts'
import type { Auth, AuthRequest, SignIn } from './instance/instance.ts'
import type { Reservation } from './instance/lockout.ts'
import type { NewSession } from './instance/sessions.ts'
import { replacing, together, type Write } from './instance/users.ts'
import type { EndTurn } from './keys/hashing.ts'
import { bearerToken } from './keys/signing.ts'
import { hookFailed, report } from './request-info.ts'
import type { NamedAccount } from './setup/method.ts'
import { SecondStepRequired, type SignInStep } from './setup/options.ts'

/** Runs `work`, which hashes, when it is the turn of a request that names `account`. */
export function inTurn<T>(
  { hashing, clients, client }: AuthRequest,
  { key, find }: NamedAccount,
  work: (endTurn: EndTurn) => Promise<T>,
): Promise<T> {
  const isKnown = async () => clients.isKnown(await find(), client)
  return hashing.admit(work, { client, account: key, isKnown })
}

export type Guess =
  | { readonly isRight: true; readonly reservation: Reservation }
  /** `isLocked`: whether the account was already locked for this client. */
  | { readonly isRight: false; readonly isLocked: boolean }

/**
 * Evaluates a guess at the password of `user`, and reports a wrong one. Unknown, wrong, locked and social-only accounts
 * take the same steps: one write, one hash computation.
 */
export async function guessPassword(
  auth: AuthRequest,
  user: Fields | undefined,
  plain: string | null | undefined,
): Promise<Guess> {
  const { users, lockout, passwords, client } = auth
  const reservation = await lockout.reserveGuess(user, client)
  const stored = reservation?.user[users.names.password]
  const canBeRight = typeof stored === 'string' && typeof plain === 'string'
  const isRight = await passwords.verify(plain ?? '', canBeRight ? stored : undefined)
  if (reservation && isRight) return { isRight, reservation }
  report(auth, 'sign-in-failed', user?._id)
  if (reservation?.locks) report(auth, 'locked', user?._id)
  // Nothing tells that password sign-in has ended: no wait ends that.
  const isEnded = user !== undefined && lockout.isEnded(user, client)
  return { isRight: false, isLocked: user !== undefined && !reservation && !isEnded }
}

/** Runs `onLogin`: returns the second step that it asks for; anything else that it throws refuses the sign-in. */
export async function runOnLogin(
  { users, settings, request, context }: AuthRequest,
  user: Fields,
  step: SignInStep = {},
): Promise<SecondStepRequired | undefined> {
  const { onLogin } = settings
  if (!onLogin) return undefined
  try {
    await inTime(request, () =>
      onLogin(users.withoutSecrets(user) as never, request, step, context),
    )
    return undefined
  } catch (error) {
    if (error instanceof SecondStepRequired) return error
    return hookFailed(error)
  }
}

/** Whether an error refuses the request, rather than being a failure of the server. */
export function isRefusal(error: unknown): boolean {
  return error instanceof HttpError && error.status < 500
}

export interface SignedIn {
  readonly data: Readonly<Record<string, unknown>>
  /** Whether the account knew other clients, but not this one. */
  readonly isNewClient: boolean
}

/** How often others may write the record meanwhile; in the end the session alone is added. */
const MAX_TRIES = 12

/**
 * Opens a session for `user` in one conditional write; undefined if its conditions no longer hold. So a sign-in that was
 * checked against a password can never open a session after that password has changed.
 */
export async function openSession(
  auth: AuthRequest,
  user: Fields,
  signIn: SignIn = {},
): Promise<SignedIn | undefined> {
  const { users, refresh, request } = auth
  checkTime(request)
  const strongAt = signIn.isStrong ? users.now() : undefined
  const session = refresh?.open(String(user._id), request, strongAt, users.changedAt(user))
  // The session that a client still has when it signs in to the same account again (ASVS 7.2.4).
  const bearer = session && bearerToken(request)
  const claims = bearer === undefined ? undefined : auth.tokens.verify(bearer)
  const replaced = claims?.sub === String(user._id) ? claims.sid : undefined
  const expect = { ...users.passwordState(user), ...signIn.expect }
  const same = { set: signIn.set ?? {}, expect, filter: users.enabled }
  const done = await users.rewrite(user, MAX_TRIES, (read, round) => {
    if (round > 1 && (users.isDisabled(read) || !holds(read, expect))) return undefined
    const { isNewClient, ...besides } = guessesAndClients(auth, read, signIn, round)
    const added = session && refresh?.adding(read, session.entry, replaced, round === MAX_TRIES)
    return { ...together(besides, added, same), isNewClient }
  })
  if (!done) return undefined
  const { isNewClient } = done.written
  return { data: signInData(auth, done.after, session, strongAt), isNewClient }
}

/**
 * The data of a sign-up, for an account that was stored with its first session, if that is still open: `onRegister` may
 * have changed the account, and the owner of its mailbox may have taken it over.
 */
export async function firstSignIn(
  auth: Auth,
  user: Fields,
  session: NewSession | undefined,
): Promise<SignedIn['data'] | undefined> {
  const { users, refresh, settings } = auth
  if (!settings.onRegister) return signInData(auth, user, session)
  const now = await users.byId(user._id)
  if (!now || users.isDisabled(now) || !holds(now, users.passwordState(user))) return undefined
  const isOpen = !session || refresh?.live(now, session.entry.id) !== undefined
  return isOpen ? signInData(auth, now, session) : undefined
}

/** What is written of guesses and clients, and whether the account knew other clients, but not this one. */
function guessesAndClients(
  { clients, lockout, client }: AuthRequest,
  read: Fields,
  { reservation }: SignIn,
  round: number,
): Write & { readonly isNewClient: boolean } {
  if (round === MAX_TRIES) return { isNewClient: false }
  const cleared = reservation && lockout.stepBack(reservation, 'clear', read)
  if (reservation?.known || clients.isKnown(read, client)) return { ...cleared, isNewClient: false }
  const { write, knewOthers } = clients.adding(read, client)
  // One that had to guess does not wait for long: until its guess is taken back, it may lock the account.
  const added = round <= 2 || !reservation ? write : undefined
  return { ...together(cleared, added), isNewClient: knewOthers }
}

/**
 * The end of `POST /login/confirm`: one conditional write, which notes in the present session that its user has shown a
 * factor again, and clears the guesses. Undefined if the session has ended, or what the sign-in relied on no longer holds.
 */
export async function confirmSession(
  auth: AuthRequest,
  user: Fields,
  { reservation, set = {}, expect = {}, isStrong = false }: SignIn,
): Promise<Response | undefined> {
  const { users, refresh, sessions, lockout, request } = auth
  checkTime(request)
  const same = { set, expect: { ...users.passwordState(user), ...expect }, filter: users.enabled }
  const at = new Date(users.now())
  const shown = { confirmedAt: at, ...(isStrong && { strongAt: at }) }
  const done = await users.rewrite(user, MAX_TRIES, (read) => {
    if (users.isDisabled(read) || !holds(read, same.expect)) return undefined
    const own = refresh?.live(read, request.auth?.claims?.sid as string | undefined)
    if (refresh && !own) return undefined
    const list = sessions.of(read).map((each) => (each === own ? { ...each, ...shown } : each))
    const noted = own && replacing(read, sessions.field, list)
    return together(reservation && lockout.stepBack(reservation, 'clear', read), noted, same)
  })
  if (!done) return undefined
  if (refresh) return messageResponse('Confirmed.')
  // Without sessions, it is the token that says when its user has signed in, and how.
  const strongAt = isStrong ? users.now() : visitOf(auth, done.after, request)?.strongAt
  const { token, expiresIn } = signInData(auth, done.after, undefined, strongAt)
  return valueResponse({ token, expiresIn })
}

/** The data of a sign-in or of a refresh; without sessions, the token says when a second factor was shown. */
export function signInData(
  { users, tokens, settings }: Auth,
  user: Fields,
  session: NewSession | undefined,
  strongAt?: number,
): SignedIn['data'] {
  const isStrong = !session && strongAt !== undefined
  const token = tokens.issue({
    sub: String(user._id),
    role: user[users.names.role] ?? settings.roles.default,
    pca: users.changedAt(user),
    sid: session?.entry.id,
    mfa: isStrong ? Math.floor(strongAt / 1000) : undefined,
  })
  return {
    token,
    expiresIn: settings.token.expiresIn,
    ...(session && {
      refreshToken: session.token,
      refreshExpiresIn: Math.round((session.entry.expiresAt.getTime() - users.now()) / 1000),
    }),
    user: users.shown(user),
  }
}
