/** `POST /password/change`, `POST /password/forgot` and `POST /password/reset`. */

import { checkTime } from '../../http/deadline.ts'
import { messageResponse } from '../../http/response/respond.ts'
import type { Fields } from '../../ports/store/records.ts'
import { changeIdOf } from '../../records/write/write-request.ts'
import {
  checkPasswordSize,
  credential,
  identifierString,
  namedAccount,
  newPassword,
  readBody,
  valueFor,
} from '../accounts/credentials.ts'
import {
  checkChoice,
  checkChoiceOf,
  identifiersIn,
  passwordChange,
  resetChange,
  signedInAsker,
} from '../accounts/password-choice.ts'
import { addressOf, respondFirst, sendNewCode } from '../delivery/code-requests.ts'
import { tell, tellOfEnded } from '../delivery/messages.ts'
import type { AuthRequest } from '../instance/instance.ts'
import * as refuse from '../refusals.ts'
import { report } from '../request-info.ts'
import type { Channel } from '../setup/delivery-options.ts'
import { channelsFor } from '../setup/delivery-settings.ts'
import { RESET_CODES } from '../setup/field-names.ts'
import { canReset } from '../setup/model-checks.ts'
import type { AuthSettings } from '../setup/settings.ts'
import { guessPassword, inTurn } from '../sign-in.ts'

/** Replaces the signed-in user's password; the current one counts as a guess, as it does at sign-in. */
export async function changePassword(auth: AuthRequest): Promise<Response> {
  const { settings, users, passwords, request } = auth
  const body = await readBody(auth)
  const current = credential(body, 'currentPassword')
  const chosen = credential(body, 'newPassword')
  const plain = newPassword(chosen, 'newPassword', settings.password.minLength)
  if (typeof current === 'string') checkPasswordSize(current)
  const user = await users.byId(request.auth?.userId)
  await checkChoiceOf(auth, plain, user ?? {})
  return auth.hashing.admit(async () => {
    const guess = await guessPassword(auth, user, current)
    if (!guess.isRight) throw refuse.currentPasswordIncorrect()
    const { user: own } = guess.reservation
    const hash = await passwords.hash(plain)
    checkTime(request)
    const expect = users.passwordState(own)
    const after = await users.update(own._id, { ...passwordChange(auth, own, hash), expect })
    if (!after) throw refuse.currentPasswordIncorrect()
    report(auth, 'password-changed', own._id)
    tell(auth, after, 'passwordChanged')
    return messageResponse('Password changed.', { headers: changeIdOf(users.engine, own._id) })
  }, signedInAsker(auth))
}

export async function forgotPassword(auth: AuthRequest): Promise<Response> {
  const { settings } = auth
  const body = await readBody(auth)
  const account = namedAccount(auth, body)
  if (!account) throw refuse.identifierRequired()
  const channels = channelsFor(settings, Object.hasOwn(body, 'channel') ? body.channel : undefined)
  return respondFirst(auth, meantBy(settings, body, channels), async (working) => {
    const user = await account.find()
    const channel = user && addressOf(auth, user, [...new Set([...working, ...channels])])?.channel
    return channel ? sendNewCode(auth, user, channel) : false
  })
}

/**
 * Those of `channels` that the client expects a code by, as far as its request tells: a person who types an e-mail
 * address waits for a mail. What the account has must not matter, because it decides whether there is a 503.
 */
function meantBy(
  { identifiers }: AuthSettings,
  body: Fields,
  channels: readonly Channel[],
): readonly Channel[] {
  const email = identifiers.find(({ kind }) => kind === 'email')
  if (!email || !channels.includes('email')) return channels
  const text = identifierString(body, 'identifier') || valueFor(body, email)
  return typeof text === 'string' && email.normalize(text) !== undefined ? ['email'] : channels
}

export async function resetPassword(auth: AuthRequest): Promise<Response> {
  const { settings, users, passwords, codes, identifiers } = auth
  const body = await readBody(auth)
  const account = namedAccount(auth, body)
  const code = credential(body, 'code')
  const chosen = credential(body, 'newPassword')
  const plain = newPassword(chosen, 'newPassword', settings.password.minLength)
  if (!account) throw refuse.identifierRequired()
  if (!canReset(settings)) throw refuse.invalidCode()
  await checkChoice(auth, plain, [body.identifier, ...identifiersIn(settings, body)])
  return inTurn(auth, account, async () => {
    const user = await account.find()
    const right = await codes.tryCode(user, code, RESET_CODES, auth.client)
    if (!right) {
      report(auth, 'code-failed', user?._id)
      throw refuse.invalidCode()
    }
    const { user: own, kind } = right
    await checkChoiceOf(auth, plain, own)
    const hash = await passwords.hash(plain)
    checkTime(auth.request)
    const change = resetChange(auth, settings.delivery.toField[kind], own, hash)
    // The same step uses the code up, so of two parallel requests with the right code one is too late.
    const expect = {
      ...users.passwordState(own),
      ...codes.stateOf(right),
      ...identifiers.stateOf(own),
    }
    const after = change && (await users.update(own._id, { ...change, expect }))
    if (!after) throw refuse.invalidCode()
    report(auth, 'password-reset', own._id)
    tell(auth, after, 'passwordChanged')
    await tellOfEnded(auth, own, after)
    return messageResponse('Password reset. Sign in with your new password.')
  })
}
