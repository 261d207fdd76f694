/**
 * `POST /password/reset`.
 *
 * @module
 */

import { checkTime } from '../../http/deadline.ts'
import type { ApiRequest } from '../../http/request.ts'
import { messageResponse } from '../../http/respond.ts'
import { resetChange } from '../accounts/change-password.ts'
import { credential, namedAccount, readBody } from '../accounts/credentials.ts'
import { checkChoice, checkChoiceOf, identifiersIn } from '../accounts/password-choice.ts'
import { tryCode } from '../codes/try-code.ts'
import { tell, tellOfProviders } from '../delivery/notices.ts'
import type { AuthInstance } from '../instance.ts'
import { newPassword } from '../keys/passwords.ts'
import { identifierRequired, invalidCode } from '../refusals.ts'
import { requestInfo } from '../request-info/request-info.ts'
import { RESET_CODES } from '../setup/code-fields.ts'
import { canReset } from '../setup/model-checks.ts'

/** Sets a new password by a one-time code. */
export async function resetPassword(auth: AuthInstance, request: ApiRequest): Promise<Response> {
  const { settings, users, passwords, codes, identifiers } = auth
  const body = await readBody(auth.host, request)
  const account = namedAccount(auth, body)
  const code = credential(body, 'code')
  const chosen = credential(body, 'newPassword')
  const plain = newPassword(chosen, 'newPassword', settings.password.minLength)
  if (!account) throw identifierRequired()
  if (!canReset(settings)) throw invalidCode()
  await checkChoice(auth, plain, [body.identifier, ...identifiersIn(settings, body)])
  const { client } = requestInfo(request)
  const isKnown = async () => auth.clients.isKnown(await account.find(), client)
  return auth.hashing.admit(
    async () => {
      const user = await account.find()
      const right = await tryCode(auth, user, code, RESET_CODES, client)
      if (!right) {
        auth.report(request, 'code-failed', user?._id)
        throw invalidCode()
      }
      const { user: own, kind } = right
      await checkChoiceOf(auth, plain, own, request)
      const hash = await passwords.hash(plain)
      checkTime(request)
      const change = resetChange(auth, settings.delivery.toField[kind], own, hash, client)
      // The same step uses the code up, so of two parallel requests with the right code one is too late.
      const expect = {
        ...users.passwordState(own),
        ...codes.stateOf(right),
        ...identifiers.stateOf(own),
      }
      const after = change && (await users.update(own._id, change, expect))
      if (!after) throw invalidCode()
      auth.report(request, 'password-reset', own._id)
      tell(auth, after, 'passwordChanged', request)
      tellOfProviders(auth, own, after, request)
      return messageResponse('Password reset. Sign in with your new password.')
    },
    { client, account: account.key, isKnown },
  )
}
