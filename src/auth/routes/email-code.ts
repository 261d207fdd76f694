/**
 * `POST /email/code`.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import { messageResponse } from '../../http/respond.ts'
import type { Context } from '../../records/guard.ts'
import { identifierText, readBody } from '../credentials.ts'
import type { Realm } from '../realm.ts'
import { identifierRequired } from '../refusals.ts'
import { sendVerification } from '../verification.ts'
import { accountToVerify } from './email-verify.ts'

/** Sends a code that proves a mailbox. The answer and its time are the same for every address. */
export async function sendEmailCode(
  realm: Realm,
  request: ApiRequest,
  context: Pick<Context, 'waitUntil'>,
): Promise<Response> {
  const body = await readBody(realm, request)
  const identifier = identifierText(body, 'identifier') ?? identifierText(body, 'email')
  if (!request.auth && (identifier === undefined || identifier === '')) throw identifierRequired()
  const sending = accountToVerify(realm, identifier, request).then(
    (user) => user && sendVerification(realm, String(user._id), request),
  )
  context.waitUntil(sending)
  return messageResponse('If that account exists, a code has been sent.')
}
