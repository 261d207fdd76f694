/**
 * `POST /email/verify`.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import { messageResponse } from '../../http/respond.ts'
import { withId } from '../../ports/filter.ts'
import { type Change, DuplicateKey, type Fields } from '../../ports/store.ts'
import { credential, identifierString, readBody, typedAccount } from '../accounts/credentials.ts'
import { isTakenElsewhere } from '../accounts/one-namespace.ts'
import { signInState } from '../accounts/reauthentication.ts'
import { addressToVerify, freed, type OwnVisit, opens, proofState } from '../accounts/ways-in.ts'
import { codeState, type RightCode, tryCode } from '../codes.ts'
import { tellOfProviders } from '../delivery/notices.ts'
import { verificationChange } from '../delivery/verification.ts'
import type { AuthInstance } from '../instance/instance.ts'
import { userById } from '../instance/user.ts'
import { checkPasswordSize } from '../keys/passwords.ts'
import { accountExists, identifierRequired, invalidCode } from '../refusals.ts'
import { forgiveGuess, guessPassword } from '../sign-in/password-attempt.ts'
import { isKnownTo } from '../visit/known-clients.ts'
import { report } from '../visit/security-events.ts'
import { visitOf } from '../visit/visit.ts'
import type { AuthRoute } from './route.ts'

const MAX_TRIES = 5

/** The route `verifyEmail`. */
export const verifyEmailRoute: AuthRoute<'verifyEmail'> = {
  name: 'verifyEmail',
  method: 'POST',
  path: '/email/verify',
  access: 'anyone',
  hidesAccounts: true,
  needs: 'emailVerification',
  optionalAuth: true,
  handler: (auth) => (request) => verifyEmail(auth, request),
}

/** Proves a mailbox by a code that was mailed to it. */
async function verifyEmail(auth: AuthInstance, request: ApiRequest): Promise<Response> {
  const body = await readBody(auth, request)
  const identifier = identifierString(body, 'identifier') ?? identifierString(body, 'email')
  const otp = credential(body, 'otp') ?? credential(body, 'code')
  if (!request.auth && (identifier === undefined || identifier === '')) throw identifierRequired()
  const { client } = visitOf(request)
  const user = await accountToVerify(auth, identifier, request)
  const isSignedIn = request.auth !== undefined && request.auth.userId === String(user?._id)
  const isOwn = isSignedIn || (await showsPassword(auth, user, body, request))
  const right = await tryCode(auth, user, otp, ['verification'], client)
  if (!right) {
    report(auth, request, 'code-failed', user?._id)
    throw invalidCode()
  }
  const { sid } = (request.auth?.claims ?? {}) as { sid?: string }
  const { before, after } = await written(
    auth,
    right,
    isOwn ? { sessionId: sid, client } : undefined,
  )
  report(auth, request, 'email-verified', right.user._id)
  tellOfProviders(auth, before, after, request)
  return messageResponse('Email address confirmed.')
}

/**
 * The account for which `identifier` is to be proven: the signed-in user's own, if the address is theirs or is to
 * become theirs, else the one that has it.
 */
export async function accountToVerify(
  auth: AuthInstance,
  identifier: string | null | undefined,
  request: ApiRequest,
): Promise<Fields | undefined> {
  const { names, settings, engine } = auth
  const { normalize } = settings.identifiers.find(({ kind }) => kind === 'email') ?? {}
  const address = typeof identifier === 'string' ? normalize?.(identifier) : undefined
  const own = request.auth ? await userById(auth, request.auth.userId) : undefined
  if (own && (identifier === undefined || addressToVerify(auth, own) === address)) return own
  if (address === undefined) return undefined
  const found = await engine.first({ op: 'eq', field: names.email, value: address })
  const isMeant = found && opens(auth, found, names.email)
  return isMeant && addressToVerify(auth, found) === address ? found : undefined
}

/** The password serves as well as a sign-in, which `required` does not allow yet. */
async function showsPassword(
  auth: AuthInstance,
  user: Fields | undefined,
  body: Fields,
  request: ApiRequest,
): Promise<boolean> {
  const password = credential(body, 'password')
  if (password === undefined) return false
  if (password !== null) checkPasswordSize(password)
  const { client } = visitOf(request)
  const isKnown = () => isKnownTo(auth, user, client)
  const asker = { client, account: typedAccount(auth, body), isKnown }
  const guess = await auth.hashing.admit(() => guessPassword(auth, user, password, request), asker)
  if (!guess.opened) throw invalidCode()
  await forgiveGuess(auth, guess.reservation)
  return true
}

/** Writes the proof and uses the code up, in one conditional step; the user before and after it. Throws a 400 or 409. */
async function written(
  auth: AuthInstance,
  right: RightCode,
  signedIn: OwnVisit | undefined,
): Promise<{ readonly before: Fields; readonly after: Fields }> {
  const { names, engine } = auth
  const id = String(right.user._id)
  let user: Fields | undefined = right.user
  for (let tries = 0; user && tries < MAX_TRIES; tries += 1) {
    const change = verificationChange(auth, { ...right, user }, signedIn)
    if (!change) throw invalidCode()
    const email = change.set?.[names.email]
    if (await isTakenElsewhere(auth, { [names.email]: email }, id)) throw accountExists()
    const expect = {
      ...signInState(auth, user),
      ...proofState(auth, user),
      ...codeState(auth, right),
      ...(signedIn && { [names.refreshTokens]: user[names.refreshTokens] }),
    }
    const done = await attempt(auth, id, change, expect)
    if (typeof done === 'object') return { before: user, after: done }
    if (done === 'taken' && !(await freed(auth, names.email, email, true))) throw accountExists()
    // A session of the account may have been refreshed meanwhile; the code must still be the same.
    user = await engine.first(withId(id))
  }
  throw invalidCode()
}

async function attempt(
  { engine }: AuthInstance,
  id: string,
  change: Change,
  expect: Fields,
): Promise<Fields | 'outrun' | 'taken'> {
  try {
    return (await engine.stored.update(withId(id), change, { expect })) ?? 'outrun'
  } catch (error) {
    if (error instanceof DuplicateKey) return 'taken'
    throw error
  }
}
