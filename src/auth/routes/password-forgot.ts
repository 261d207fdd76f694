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
import { channelsFor } from '../channels.ts'
import { activateCode, endPause, issueCode } from '../codes.ts'
import { accountFinder, readBody } from '../credentials.ts'
import { addressOf, sendCode } from '../delivery.ts'
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
  const channels = channelsFor(
    realm.settings,
    Object.hasOwn(body, 'channel') ? body.channel : undefined,
  )
  realm.breaker.check()
  await pace(async () => {
    const user = await find()
    return user !== undefined && (await deliver(realm, user, channels, request))
  })
  return messageResponse('If that account exists, a code has been sent.')
}

/** Whether there was a code to send, and somewhere to send it. */
async function deliver(
  realm: Realm,
  user: Fields,
  channels: readonly Channel[],
  request: ApiRequest,
): Promise<boolean> {
  const channel = addressOf(realm, user, channels)?.channel
  const issued = channel && (await issueCode(realm, String(user._id), channel))
  // The address that the code is made for: it may have changed since the account was found.
  const to = issued && addressOf(realm, issued.user, [issued.kind])?.to
  if (!issued || to === undefined) return false
  const { code, kind, expiresAt } = issued
  const secondsLeft = (expiresAt.getTime() - realm.now()) / 1000
  try {
    await sendCode(realm, issued.user, to, { code, channel: kind, secondsLeft }, request)
  } catch (error) {
    realm.host.logger.error(`a code could not be sent by ${kind}`, {
      requestId: request.requestId,
      // A sender's error may quote the message that it was given.
      error: String((error as Error)?.message ?? error).replaceAll(code, '…'),
    })
    await endPause(realm, issued)
    throw realm.breaker.failed()
  }
  await activateCode(realm, issued)
  return true
}
