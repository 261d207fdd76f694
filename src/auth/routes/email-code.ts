/**
 * `POST /email/code`.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import { identifierText, readBody } from '../accounts/credentials.ts'
import { answeredFirst } from '../delivery/code-requests.ts'
import { sendVerification } from '../delivery/verification.ts'
import type { Realm } from '../instance/instance.ts'
import { identifierRequired } from '../refusals.ts'
import { accountToVerify } from './email-verify.ts'
import type { AuthRoute } from './route.ts'

/** The row of `sendEmailCode`. */
export const sendEmailCodeRoute: AuthRoute<'sendEmailCode'> = {
  name: 'sendEmailCode',
  method: 'POST',
  path: '/email/code',
  access: 'anyone',
  needs: 'emailVerification',
  optionalAuth: true,
  handler: (realm) => (request) => sendEmailCode(realm, request),
}

/** Answers, then sends a code that proves a mailbox. */
async function sendEmailCode(realm: Realm, request: ApiRequest): Promise<Response> {
  const body = await readBody(realm, request)
  const identifier = identifierText(body, 'identifier') ?? identifierText(body, 'email')
  if (!request.auth && (identifier === undefined || identifier === '')) throw identifierRequired()
  return answeredFirst(realm, request, ['email'], async () => {
    const user = await accountToVerify(realm, identifier, request)
    return user !== undefined && (await sendVerification(realm, user, request))
  })
}
