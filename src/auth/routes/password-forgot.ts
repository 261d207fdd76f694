/**
 * `POST /password/forgot`.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import { accountFinder, readBody } from '../accounts/credentials.ts'
import { answeredFirst, sendNewCode } from '../delivery/code-requests.ts'
import { addressOf } from '../delivery/deliver.ts'
import type { Realm } from '../instance/instance.ts'
import { identifierRequired } from '../refusals.ts'
import { channelsFor } from '../setup/channels.ts'
import type { AuthRoute } from './route.ts'

/** The row of `forgotPassword`. */
export const forgotPasswordRoute: AuthRoute<'forgotPassword'> = {
  name: 'forgotPassword',
  method: 'POST',
  path: '/password/forgot',
  access: 'anyone',
  handler: (realm) => (request) => forgotPassword(realm, request),
}

/** Answers, then sends a code to the account's stored address. */
async function forgotPassword(realm: Realm, request: ApiRequest): Promise<Response> {
  const body = await readBody(realm, request)
  const find = accountFinder(realm, body)
  if (!find) throw identifierRequired()
  const channels = channelsFor(
    realm.settings,
    Object.hasOwn(body, 'channel') ? body.channel : undefined,
  )
  return answeredFirst(realm, request, channels, async () => {
    const user = await find()
    const channel = user && addressOf(realm, user, channels)?.channel
    if (!channel) return false
    const toField = (record: typeof user) => addressOf(realm, record, [channel])?.to
    return sendNewCode(realm, user, channel, toField, request)
  })
}
