/**
 * Checks whether the mail server can be reached, without a recipient. Otherwise only requests for existing accounts
 * would find out that it is down.
 *
 * @module
 */

import { withTimeout } from '../../ports/with-timeout.ts'
import type { Channel } from '../setup/delivery-options.ts'
import type { DeliverySettings } from '../setup/delivery-settings.ts'
import type { Breaker } from './circuit-breaker.ts'

/** From time to time, checks whether the senders for `channels` can be reached, and tells the circuit breaker. */
export type MailCheck = (channels: readonly Channel[]) => Promise<void>

const PAUSE_MS = 30_000
const DEADLINE_MS = 10_000

/** The check for transporters that have `verify()`, as Nodemailer's do; it does nothing for other senders. */
export function mailCheck(
  { deliver, mail }: DeliverySettings,
  breaker: Breaker,
  now: () => number,
): MailCheck {
  let checkedAt = Number.NEGATIVE_INFINITY
  return async (channels) => {
    if (deliver || !mail?.transporter || mail.sender || !channels.includes('email')) return
    // A clock that was set back must not end the checks.
    if (Math.abs(now() - checkedAt) < PAUSE_MS) return
    checkedAt = now()
    try {
      const transporter = await mail.transporter()
      await withTimeout(
        DEADLINE_MS,
        async () => transporter.verify?.(),
        () => new Error('the mail server did not respond'),
      )
    } catch (error) {
      breaker.unreachable(error)
    }
  }
}
