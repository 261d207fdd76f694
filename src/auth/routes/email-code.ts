/**
 * `POST /email/code`.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import { identifierString, readBody } from '../accounts/credentials.ts'
import { respondFirst } from '../delivery/code-requests.ts'
import { sendVerification } from '../delivery/verification.ts'
import type { AuthInstance } from '../instance/instance.ts'
import { identifierRequired } from '../refusals.ts'
import { accountToVerify } from './email-verify.ts'
import type { AuthRoute } from './route.ts'

/** The route `sendEmailCode`. */
export const sendEmailCodeRoute: AuthRoute<'sendEmailCode'> = {
  name: 'sendEmailCode',
  method: 'POST',
  path: '/email/code',
  access: 'anyone',
  needs: 'emailVerification',
  optionalAuth: true,
  handler: (auth) => (request) => sendEmailCode(auth, request),
}

/** Responds, then sends a code that proves a mailbox. */
async function sendEmailCode(auth: AuthInstance, request: ApiRequest): Promise<Response> {
  const body = await readBody(auth, request)
  const identifier = identifierString(body, 'identifier') ?? identifierString(body, 'email')
  if (!request.auth && (identifier === undefined || identifier === '')) throw identifierRequired()
  return respondFirst(auth, request, ['email'], async () => {
    const user = await accountToVerify(auth, identifier, request)
    return user !== undefined && (await sendVerification(auth, user, request))
  })
}
