/**
 * Sends codes to the addresses of accounts.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import { idsOf } from '../../http/request-ids.ts'
import type { Fields } from '../../ports/store.ts'
import { opens } from '../accounts/ways-in.ts'
import type { IssuedCode } from '../codes.ts'
import type { AuthInstance } from '../instance/instance.ts'
import type { Channel } from '../setup/delivery-options.ts'
import { visitOf } from '../visit/visit.ts'
import { sendMessage } from './send-message.ts'

/**
 * The first of `channels` that reaches the user, and the stored address: never one that a client typed, nor one that is
 * only claimed on an account with a proven identifier.
 */
export function addressOf(
  auth: AuthInstance,
  user: Fields,
  channels: readonly Channel[],
): { readonly channel: Channel; readonly to: string } | undefined {
  for (const channel of channels) {
    const field = auth.settings.delivery.toField[channel]
    const to = user[field]
    if (typeof to === 'string' && to !== '' && opens(auth, user, field)) return { channel, to }
  }
  return undefined
}

/** Sends an issued code and records the outcome; returns whether it was sent. A failure is logged. */
export async function isSent(
  auth: AuthInstance,
  { kind, user, code, expiresAt }: IssuedCode,
  to: string,
  request: ApiRequest,
): Promise<boolean> {
  const isReset = kind !== 'verification'
  const channel = isReset ? kind : 'email'
  const purpose = isReset ? 'passwordReset' : 'emailVerification'
  const secondsLeft = (expiresAt.getTime() - auth.now()) / 1000
  try {
    await sendMessage(auth, user, { to, code, channel, secondsLeft, purpose }, request)
    auth.breakers[channel].succeeded()
    return true
  } catch (error) {
    const what = isReset
      ? `a code could not be sent by ${channel}`
      : 'a confirmation code could not be sent'
    auth.host.logger.error(what, {
      ...idsOf(request),
      // A sender's error may quote the message that it was given.
      error: String((error as Error)?.message ?? error).replaceAll(code, '…'),
    })
    auth.breakers[channel].failed({ recipient: to, client: visitOf(request).client, error })
    return false
  }
}
