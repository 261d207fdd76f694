/** Proof of a mailbox by a code: `POST /email/code` and `POST /email/verify`. */

import { messageResponse } from '../../http/response/respond.ts'
import { unlessTaken } from '../../model/own-records.ts'
import type { Fields } from '../../ports/store/records.ts'
import type { Change } from '../../ports/store/store.ts'
import {
  checkPasswordSize,
  credential,
  identifierString,
  readBody,
  takenElsewhere,
} from '../accounts/credentials.ts'
import { respondFirst, sendNewCode } from '../delivery/code-requests.ts'
import { tellOfEnded } from '../delivery/messages.ts'
import type { RightCode } from '../instance/codes.ts'
import { type Auth, type AuthRequest, type OwnMethod, route } from '../instance/instance.ts'
import type { OwnVisit } from '../instance/proven-identifiers.ts'
import { together } from '../instance/users.ts'
import * as refuse from '../refusals.ts'
import { report } from '../request-info.ts'
import { guessPassword, inTurn } from '../sign-in.ts'

const MAX_TRIES = 5

const OPTION = { needs: 'emailVerification', optionalAuth: true } as const

/** The option `emailVerification`. */
export const emailProof: OwnMethod = {
  routes: [
    route('sendEmailCode', 'POST /email/code', 'anyone', sendEmailCode, OPTION),
    route('verifyEmail', 'POST /email/verify', 'anyone', verifyEmail, {
      ...OPTION,
      hidesAccounts: true,
    }),
  ],
}

async function sendEmailCode(auth: AuthRequest): Promise<Response> {
  const address = addressIn(auth, await readBody(auth))
  return respondFirst(auth, ['email'], async () => {
    const user = await accountToVerify(auth, address)
    return user !== undefined && (await sendNewCode(auth, user, 'verification'))
  })
}

async function verifyEmail(auth: AuthRequest): Promise<Response> {
  const { client, request } = auth
  const body = await readBody(auth)
  const otp = credential(body, 'otp') ?? credential(body, 'code')
  const user = await accountToVerify(auth, addressIn(auth, body))
  const isSignedIn = request.auth !== undefined && request.auth.userId === String(user?._id)
  const isOwn = isSignedIn || (await showsPassword(auth, user, body))
  const right = await auth.codes.tryCode(user, otp, ['verification'], client)
  if (!right) {
    report(auth, 'code-failed', user?._id)
    throw refuse.invalidCode()
  }
  const { sid } = (request.auth?.claims ?? {}) as { sid?: string }
  const { before, after } = await prove(auth, right, isOwn ? { sessionId: sid, client } : undefined)
  report(auth, 'email-verified', right.user._id)
  await tellOfEnded(auth, before, after)
  return messageResponse('Email address confirmed.')
}

/** What a body says of an address: its normal form, or undefined if it is none; null if the body says nothing. */
function addressIn({ settings, request }: AuthRequest, body: Fields): string | null | undefined {
  const identifier = identifierString(body, 'identifier') ?? identifierString(body, 'email')
  if (!request.auth && (identifier === undefined || identifier === ''))
    throw refuse.identifierRequired()
  if (identifier === undefined) return null
  const email = settings.identifiers.find(({ kind }) => kind === 'email')
  return typeof identifier === 'string' ? email?.normalize(identifier) : undefined
}

/**
 * The account for which an address is to be proven: the signed-in user's own, if the address is theirs or is to
 * become theirs, else the one that has it.
 */
async function accountToVerify(
  { users, identifiers, request }: AuthRequest,
  address: string | null | undefined,
): Promise<Fields | undefined> {
  const { email } = users.names
  const own = request.auth ? await users.byId(request.auth.userId) : undefined
  if (own && (address === null || identifiers.addressToVerify(own) === address)) return own
  if (typeof address !== 'string') return undefined
  const found = await users.by(email, address)
  const isMeant = found && identifiers.mayIdentify(found, email)
  return isMeant && identifiers.addressToVerify(found) === address ? found : undefined
}

/** The password serves as well as a sign-in, which `required` does not allow yet. */
async function showsPassword(
  auth: AuthRequest,
  user: Fields | undefined,
  body: Fields,
): Promise<boolean> {
  const password = credential(body, 'password')
  if (password === undefined) return false
  if (password !== null) checkPasswordSize(password)
  const account = { key: addressIn(auth, body) ?? undefined, find: async () => user }
  const guess = await inTurn(auth, account, () => guessPassword(auth, user, password))
  if (!guess.isRight) throw refuse.invalidCode()
  await auth.lockout.takeBack(guess.reservation, 'forgive')
  return true
}

/** Writes the proof and uses the code up, in one conditional step; the user before and after it. Throws a 400 or 409. */
async function prove(
  auth: Auth,
  right: RightCode,
  signedIn: OwnVisit | undefined,
): Promise<{ readonly before: Fields; readonly after: Fields }> {
  const { users, sessions, codes, identifiers } = auth
  const { email: field } = users.names
  const id = String(right.user._id)
  let user: Fields | undefined = right.user
  for (let tries = 0; user && tries < MAX_TRIES; tries += 1) {
    const change = proofChange(auth, user, signedIn)
    if (!change) throw refuse.invalidCode()
    const address = change.set?.[field]
    const taken = await takenElsewhere(auth, { [field]: address }, id)
    if (taken.length > 0) throw refuse.accountExists()
    const expect = {
      ...users.passwordState(user),
      ...identifiers.stateOf(user),
      ...codes.stateOf(right),
      ...(signedIn && { [sessions.field]: user[sessions.field] }),
    }
    const after = await unlessTaken(() => users.update(id, { ...change, expect }))
    if (after) return { before: user, after }
    const isTaken = after === undefined && !(await identifiers.free(field, address, true))
    if (isTaken) throw refuse.accountExists()
    // A session of the account may have been refreshed meanwhile; the code must still be the same.
    user = await users.byId(id)
  }
  throw refuse.invalidCode()
}

/**
 * What a right code changes. Undefined if it may prove nothing: on an account with a proven identifier only its own
 * user can add another, because a code in the wrong hands would give the account away.
 */
function proofChange(
  { users, identifiers, codes }: Auth,
  user: Fields,
  signedIn: OwnVisit | undefined,
): Change | undefined {
  const { email: field, pendingEmail } = users.names
  const address = identifiers.addressToVerify(user)
  const isFirst = !identifiers.hasProof(user)
  const isNew = address !== user[field]
  if (address === undefined || (!signedIn && (isNew || !isFirst))) return undefined
  const proven = { ...user, [field]: address }
  if (!isFirst) {
    const set = { [field]: address, ...identifiers.proofOf(proven, field) }
    return { set, unset: [...codes.allEnded, ...users.declared([pendingEmail])] }
  }
  const change = identifiers.takeover(proven, { field, ...(signedIn && { signedIn }) })
  return together(change, { set: { [field]: address } })
}
