/**
 * `POST /password/forgot`.
 *
 * The answer comes before the account is looked for, so neither it nor its time depends on whether there is one.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import { messageResponse } from '../../http/respond.ts'
import { everything } from '../../ports/filter.ts'
import type { Fields } from '../../ports/store.ts'
import { channelsFor } from '../channels.ts'
import { activateCode, endPause, issueCode } from '../codes.ts'
import { accountFinder, readBody } from '../credentials.ts'
import { addressOf, isSent } from '../delivery.ts'
import type { Channel } from '../delivery-options.ts'
import { report } from '../events.ts'
import { reserveNothing } from '../lockout.ts'
import type { Realm } from '../realm.ts'
import { identifierRequired } from '../refusals.ts'
import { visitOf } from '../visit.ts'

/** Answers, then sends a code to the account's stored address. */
export async function forgotPassword(realm: Realm, request: ApiRequest): Promise<Response> {
  const body = await readBody(realm, request)
  const find = accountFinder(realm, body)
  if (!find) throw identifierRequired()
  const channels = channelsFor(
    realm.settings,
    Object.hasOwn(body, 'channel') ? body.channel : undefined,
  )
  realm.breaker.check()
  // A store that cannot be reached is told of; what it is asked is the same for everybody.
  await realm.records.stored.find({ filter: everything, sort: [], limit: 1 })
  const work = realm.afterwards.begin(async () => {
    const user = await find()
    const sent = user !== undefined && (await deliver(realm, user, channels, request))
    // The writes that go with a code: the requests that come next would have to wait for them.
    if (!sent) for (let writes = 0; writes < 2; writes += 1) await reserveNothing(realm)
    await realm.mailCheck(channels)
  })
  if (work) visitOf(request).later(work)
  else realm.host.logger.error('too many codes are being sent: one was not')
  return messageResponse('If that account exists, a code has been sent.')
}

/** Whether a code was to be sent: whether there was somewhere to send it. */
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
  if (await isSent(realm, issued, to, request)) {
    report(realm, request, 'code-sent', user._id)
    await activateCode(realm, issued)
  } else await endPause(realm, issued)
  return true
}
