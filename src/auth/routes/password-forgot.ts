/**
 * `POST /password/forgot`.
 *
 * The answer and its time are the same whether the account exists or not: every answer waits until the slowest
 * of the latest sends would have been done.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import { messageResponse } from '../../http/respond.ts'
import type { Fields } from '../../ports/store.ts'
import { activateCode, issueCode, noteTexted } from '../codes.ts'
import { accountFinder, readBody } from '../credentials.ts'
import { addressOf, channelsFor, sendCode } from '../delivery.ts'
import type { Channel } from '../delivery-options.ts'
import type { Pace } from '../pace.ts'
import type { Realm } from '../realm.ts'
import { identifierRequired } from '../refusals.ts'

/** Sends a code to the account's stored address. */
export async function forgotPassword(
  realm: Realm,
  pace: Pace,
  request: ApiRequest,
): Promise<Response> {
  const body = await readBody(realm, request)
  const find = accountFinder(realm, body)
  if (!find) throw identifierRequired()
  const channels = channelsFor(realm, Object.hasOwn(body, 'channel') ? body.channel : undefined)
  realm.breaker.check()
  await pace(async () => {
    const user = await find()
    return user !== undefined && (await deliver(realm, user, channels, request))
  })
  return messageResponse('If that account exists, a code has been sent.')
}

/** Whether there was somewhere to send a code. */
async function deliver(
  realm: Realm,
  user: Fields,
  channels: readonly Channel[],
  request: ApiRequest,
): Promise<boolean> {
  const reachable = addressOf(realm, user, channels) !== undefined
  const issued = reachable ? await issueCode(realm, String(user._id)) : undefined
  // The address that the code is made for: it may have changed since the account was found.
  const address = issued && addressOf(realm, issued.user, channels)
  if (!address) return false
  const { channel, to } = address
  if (channel === 'sms') await noteTexted(realm, issued)
  const secondsLeft = (issued.expiresAt.getTime() - realm.now()) / 1000
  try {
    await sendCode(realm, issued.user, to, { code: issued.code, channel, secondsLeft }, request)
  } catch (error) {
    realm.host.logger.error(`a code could not be sent by ${channel}`, {
      requestId: request.requestId,
      // A sender's error may quote the message that it was given.
      error: String((error as Error)?.message ?? error).replaceAll(issued.code, '…'),
    })
    throw realm.breaker.failed()
  }
  await activateCode(realm, issued, channel)
  return true
}
