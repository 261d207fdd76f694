/**
 * Requests for a code by whoever knows an address. The answer comes before the account is looked for, so neither it nor
 * its time depends on whether there is one.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import { idsOf } from '../../http/request-ids.ts'
import { messageResponse } from '../../http/respond.ts'
import { everything } from '../../ports/filter.ts'
import type { Fields } from '../../ports/store.ts'
import { activateCode, endPause, issueCode } from '../codes.ts'
import type { AuthInstance } from '../instance/instance.ts'
import type { CodeKind } from '../setup/code-fields.ts'
import type { Channel } from '../setup/delivery-options.ts'
import { report } from '../visit/security-events.ts'
import { visitOf } from '../visit/visit.ts'
import { isSent } from './deliver.ts'

/** A code and its being valid. */
const WRITES = 2

/**
 * Answers, then does `send`, which says whether there was somewhere to send a code by `channels`. Throws 503 while it is
 * known that none can be sent, and what the store throws.
 */
export async function respondFirst(
  auth: AuthInstance,
  request: ApiRequest,
  channels: readonly Channel[],
  send: () => Promise<boolean>,
): Promise<Response> {
  auth.breaker.check()
  // A store that cannot be reached is told of; what it is asked is the same for everybody.
  await auth.engine.stored.find({ filter: everything, sort: [], limit: 1 })
  const work = auth.afterwards.begin(async () => {
    // The writes that go with a code: the requests that come next would have to wait for them.
    if (!(await send())) for (let left = WRITES; left > 0; left -= 1) await auth.decoys.write()
    await auth.mailCheck(channels)
  })
  if (work) visitOf(request).later(work)
  else auth.host.logger.error('too many codes are being sent: one was not', idsOf(request))
  return messageResponse('If that account exists, a code has been sent.')
}

/**
 * Sends a code to `account`, at the address that `addressOf` finds in the record, and makes it valid. Whether there was
 * somewhere to send it; failures are logged.
 */
export async function sendNewCode(
  auth: AuthInstance,
  account: Fields,
  kind: CodeKind,
  addressOf: (user: Fields) => string | undefined,
  request: ApiRequest,
): Promise<boolean> {
  const issued = await issueCode(auth, account, kind)
  if (!issued) {
    auth.host.logger.info('a code was asked for too soon after the last one', {
      ...idsOf(request),
      userId: String(account._id),
    })
    return false
  }
  // The address that the code is made for: it may have changed since the account was found.
  const to = addressOf(issued.user)
  if (to !== undefined && (await isSent(auth, issued, to, request))) {
    report(auth, request, 'code-sent', account._id)
    await activateCode(auth, issued)
  } else await endPause(auth, issued)
  return to !== undefined
}
