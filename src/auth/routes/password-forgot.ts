/**
 * `POST /password/forgot`.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import type { Fields } from '../../ports/store.ts'
import { identifierString, namedAccount, readBody, valueFor } from '../accounts/credentials.ts'
import { addressOf, respondFirst, sendNewCode } from '../delivery/code-requests.ts'
import type { AuthInstance } from '../instance.ts'
import { identifierRequired } from '../refusals.ts'
import { channelsFor } from '../setup/channels.ts'
import type { Channel } from '../setup/delivery-options.ts'
import type { AuthSettings } from '../setup/settings.ts'

/** Responds, then sends a code to the account's stored address. */
export async function forgotPassword(auth: AuthInstance, request: ApiRequest): Promise<Response> {
  const { settings } = auth
  const body = await readBody(auth.host, request)
  const account = namedAccount(auth, body)
  if (!account) throw identifierRequired()
  const channels = channelsFor(settings, Object.hasOwn(body, 'channel') ? body.channel : undefined)
  return respondFirst(auth, request, meantBy(settings, body, channels), async (working) => {
    const user = await account.find()
    const channel = user && addressOf(auth, user, [...new Set([...working, ...channels])])?.channel
    if (!channel) return false
    const addressIn = (record: Fields) => addressOf(auth, record, [channel])?.to
    return sendNewCode(auth, user, channel, addressIn, request)
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
