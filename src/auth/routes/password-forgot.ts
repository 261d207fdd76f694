/**
 * `POST /password/forgot`.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import { accountFinder, readBody } from '../accounts/credentials.ts'
import { respondFirst, sendNewCode } from '../delivery/code-requests.ts'
import { addressOf } from '../delivery/deliver.ts'
import type { AuthInstance } from '../instance/instance.ts'
import { identifierRequired } from '../refusals.ts'
import { channelsFor } from '../setup/channels.ts'
import type { AuthRoute } from './route.ts'

/** The route `forgotPassword`. */
export const forgotPasswordRoute: AuthRoute<'forgotPassword'> = {
  name: 'forgotPassword',
  method: 'POST',
  path: '/password/forgot',
  access: 'anyone',
  handler: (auth) => (request) => forgotPassword(auth, request),
}

/** Responds, then sends a code to the account's stored address. */
async function forgotPassword(auth: AuthInstance, request: ApiRequest): Promise<Response> {
  const body = await readBody(auth, request)
  const find = accountFinder(auth, body)
  if (!find) throw identifierRequired()
  const channels = channelsFor(
    auth.settings,
    Object.hasOwn(body, 'channel') ? body.channel : undefined,
  )
  return respondFirst(auth, request, channels, async () => {
    const user = await find()
    const channel = user && addressOf(auth, user, channels)?.channel
    if (!channel) return false
    const toField = (record: typeof user) => addressOf(auth, record, [channel])?.to
    return sendNewCode(auth, user, channel, toField, request)
  })
}
