/**
 * `POST /password/reset`.
 *
 * @module
 */

import { checkTime } from '../../http/deadline.ts'
import type { ApiRequest } from '../../http/request.ts'
import { messageResponse } from '../../http/respond.ts'
import { resetChange, writePassword } from '../accounts/change-password.ts'
import { accountFinder, credential, readBody, typedAccount } from '../accounts/credentials.ts'
import { checkChoice, checkChoiceOf, identifiersIn } from '../accounts/password-choice.ts'
import { proofState } from '../accounts/ways-in.ts'
import { codeState, tryCode } from '../codes.ts'
import { tell, tellOfProviders } from '../delivery/notices.ts'
import type { AuthInstance } from '../instance/instance.ts'
import { newPassword } from '../keys/passwords.ts'
import { identifierRequired, invalidCode } from '../refusals.ts'
import { RESET_CODES } from '../setup/code-fields.ts'
import { canReset } from '../setup/model-checks.ts'
import { isKnownTo } from '../visit/known-clients.ts'
import { report } from '../visit/security-events.ts'
import { visitOf } from '../visit/visit.ts'
import type { AuthRoute } from './route.ts'

/** The route `resetPassword`. */
export const resetPasswordRoute: AuthRoute<'resetPassword'> = {
  name: 'resetPassword',
  method: 'POST',
  path: '/password/reset',
  access: 'anyone',
  hidesAccounts: true,
  handler: (auth) => (request) => resetPassword(auth, request),
}

/** Sets a new password by a one-time code. */
async function resetPassword(auth: AuthInstance, request: ApiRequest): Promise<Response> {
  const { settings, passwords } = auth
  const body = await readBody(auth, request)
  const find = accountFinder(auth, body)
  const code = credential(body, 'code')
  const plain = newPassword(
    credential(body, 'newPassword'),
    'newPassword',
    settings.password.minLength,
  )
  if (!find) throw identifierRequired()
  if (!canReset(settings)) throw invalidCode()
  await checkChoice(auth, plain, [body.identifier, ...identifiersIn(auth, body)])
  const { client } = visitOf(request)
  const isKnown = async () => isKnownTo(auth, await find(), client)
  const asker = { client, account: typedAccount(auth, body), isKnown }
  return auth.hashing.admit(async () => {
    const user = await find()
    const right = await tryCode(auth, user, code, RESET_CODES, client)
    if (!right) {
      report(auth, request, 'code-failed', user?._id)
      throw invalidCode()
    }
    await checkChoiceOf(auth, plain, right.user, request)
    const change = resetChange(auth, right, await passwords.hash(plain), client)
    checkTime(request)
    // The same step uses the code up, so of two parallel requests with the right code one is too late.
    const expect = { ...codeState(auth, right), ...proofState(auth, right.user) }
    const written = change && (await writePassword(auth, right.user, change, expect))
    if (!written) throw invalidCode()
    report(auth, request, 'password-reset', right.user._id)
    tell(auth, written, 'passwordChanged', request)
    tellOfProviders(auth, right.user, written, request)
    return messageResponse('Password reset. Sign in with your new password.')
  }, asker)
}
