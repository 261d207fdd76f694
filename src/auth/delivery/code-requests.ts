/**
 * Requests for a code, from anyone who knows an address. The response is sent before the account is looked up, so
 * neither its content nor its time depends on whether there is one.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import { idsOf } from '../../http/request-ids.ts'
import { messageResponse } from '../../http/respond.ts'
import { everything } from '../../ports/filter.ts'
import type { Fields } from '../../ports/store.ts'
import { activateCode, issueCode } from '../codes.ts'
import { workingFirst } from '../instance/circuit-breaker.ts'
import type { AuthInstance } from '../instance/instance.ts'
import type { CodeKind } from '../setup/code-fields.ts'
import type { Channel } from '../setup/delivery-options.ts'
import { report } from '../visit/security-events.ts'
import { visitOf } from '../visit/visit.ts'
import { isSent } from './deliver.ts'

/** The writes for one code: issuing it, and making it valid. */
const WRITES = 2

/**
 * Responds, then runs `send` with `channels`, those first that are not known to be down. It returns whether there was an
 * address to send a code to. Throws a 503 while it is known that codes cannot be sent, and any error of the store.
 */
export async function respondFirst(
  auth: AuthInstance,
  request: ApiRequest,
  channels: readonly Channel[],
  send: (channels: readonly Channel[]) => Promise<boolean>,
): Promise<Response> {
  const working = workingFirst(auth.breakers, channels)
  // An unreachable store is reported, but the query is the same for every account.
  await auth.engine.stored.find({ filter: everything, sort: [], limit: 1 })
  const work = auth.afterwards.begin(async () => {
    // Do the writes that a code would cost: later requests would have to wait for those too.
    if (!(await send(working)))
      for (let left = WRITES; left > 0; left -= 1) await auth.decoys.write()
    await auth.mailCheck(channels)
  })
  if (work) visitOf(request).later(work)
  else auth.host.logger.error('too many codes are being sent: one was dropped', idsOf(request))
  return messageResponse('If that account exists, a code has been sent.')
}

/**
 * Sends a code to `account`, at the address that `addressOf` finds in the record. Returns whether there was an address;
 * failures are logged, and take the code back.
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
    auth.host.logger.info('a code was requested too soon after the last one', {
      ...idsOf(request),
      userId: String(account._id),
    })
    return false
  }
  // The address that the code was made for: it may have changed since the account was found.
  const to = addressOf(issued.user)
  // Valid before it is handed over: a sender may report late what the user already types.
  const { isValid, takeBack } = await activateCode(auth, issued)
  if (to !== undefined && isValid && (await isSent(auth, issued, to, request))) {
    report(auth, request, 'code-sent', account._id)
  } else await takeBack()
  return to !== undefined
}
