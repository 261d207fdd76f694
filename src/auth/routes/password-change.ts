/**
 * `POST /password/change`.
 *
 * @module
 */

import { checkTime } from '../../http/deadline.ts'
import type { ApiRequest } from '../../http/request.ts'
import { messageResponse } from '../../http/respond.ts'
import { passwordChange } from '../accounts/change-password.ts'
import { credential, readBody } from '../accounts/credentials.ts'
import { checkChoiceOf } from '../accounts/password-choice.ts'
import { signedInAsker } from '../accounts/reauthentication.ts'
import { tell } from '../delivery/notices.ts'
import type { AuthInstance } from '../instance.ts'
import { checkPasswordSize, newPassword } from '../keys/passwords.ts'
import { currentPasswordIncorrect } from '../refusals.ts'
import { requestInfo } from '../request-info/request-info.ts'
import { guessPassword } from '../sign-in/guess-password.ts'

/** Replaces the signed-in user's password; the current one counts as a guess, as it does at sign-in. */
export async function changePassword(auth: AuthInstance, request: ApiRequest): Promise<Response> {
  const { settings, users, passwords } = auth
  const body = await readBody(auth.host, request)
  const current = credential(body, 'currentPassword')
  const chosen = credential(body, 'newPassword')
  const plain = newPassword(chosen, 'newPassword', settings.password.minLength)
  if (typeof current === 'string') checkPasswordSize(current)
  const user = await users.byId(request.auth?.userId)
  await checkChoiceOf(auth, plain, user ?? {}, request)
  return auth.hashing.admit(async () => {
    const guess = await guessPassword(auth, user, current, request)
    if (!guess.isRight) throw currentPasswordIncorrect()
    const { user: own } = guess.reservation
    const hash = await passwords.hash(plain)
    checkTime(request)
    const change = passwordChange(auth, own, hash, requestInfo(request).client)
    const after = await users.update(own._id, change, users.passwordState(own))
    if (!after) throw currentPasswordIncorrect()
    auth.report(request, 'password-changed', own._id)
    tell(auth, after, 'passwordChanged', request)
    return messageResponse('Password changed.')
  }, signedInAsker(request))
}
