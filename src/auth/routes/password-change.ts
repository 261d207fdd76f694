/**
 * `POST /password/change`.
 *
 * @module
 */

import { checkTime } from '../../http/deadline.ts'
import type { ApiRequest } from '../../http/request.ts'
import { messageResponse } from '../../http/respond.ts'
import { passwordChange, writePassword } from '../accounts/change-password.ts'
import { credential, readBody } from '../accounts/credentials.ts'
import { checkChoiceOf } from '../accounts/password-choice.ts'
import { signedInAsker } from '../accounts/reauthentication.ts'
import { tell } from '../delivery/notices.ts'
import type { AuthInstance } from '../instance/instance.ts'
import { userById } from '../instance/user.ts'
import { checkPasswordSize, newPassword } from '../keys/passwords.ts'
import { currentPasswordIncorrect } from '../refusals.ts'
import { guessPassword } from '../sign-in/password-attempt.ts'
import { report } from '../visit/security-events.ts'
import { visitOf } from '../visit/visit.ts'
import type { AuthRoute } from './route.ts'

/** The route `changePassword`. */
export const changePasswordRoute: AuthRoute<'changePassword'> = {
  name: 'changePassword',
  method: 'POST',
  path: '/password/change',
  access: 'signed in',
  handler: (auth) => (request) => changePassword(auth, request),
}

/** Replaces the signed-in user's password; the current one counts as a guess, as it does at sign-in. */
async function changePassword(auth: AuthInstance, request: ApiRequest): Promise<Response> {
  const { settings, passwords } = auth
  const body = await readBody(auth, request)
  const current = credential(body, 'currentPassword')
  const plain = newPassword(
    credential(body, 'newPassword'),
    'newPassword',
    settings.password.minLength,
  )
  if (typeof current === 'string') checkPasswordSize(current)
  const user = await userById(auth, String(request.auth?.userId))
  await checkChoiceOf(auth, plain, user ?? {}, request)
  const asker = signedInAsker(request)
  return auth.hashing.admit(async () => {
    const guess = await guessPassword(auth, user, current, request)
    if (!guess.opened) throw currentPasswordIncorrect()
    const own = guess.reservation.user
    const hash = await passwords.hash(plain)
    checkTime(request)
    const change = passwordChange(auth, own, hash, visitOf(request).client)
    const written = await writePassword(auth, own, change)
    if (!written) throw currentPasswordIncorrect()
    report(auth, request, 'password-changed', user?._id)
    tell(auth, written, 'passwordChanged', request)
    return messageResponse('Password changed.')
  }, asker)
}
