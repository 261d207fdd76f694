/**
 * Sends a code, by mail or SMS, within a deadline.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import { idsOf } from '../../http/request-ids.ts'
import type { Fields } from '../../ports/store.ts'
import { within } from '../../ports/within.ts'
import type { Context } from '../../records/engine/route.ts'
import { opens } from '../accounts/ways-in.ts'
import type { IssuedCode } from '../codes.ts'
import type { AuthInstance } from '../instance/instance.ts'
import { withoutSecrets } from '../instance/user.ts'
import { channelsThere } from '../setup/channels.ts'
import type {
  Channel,
  CodeMessage,
  MessagePurpose,
  ShownUser,
  TemplateValues,
} from '../setup/delivery-options.ts'
import type { MailSettings } from '../setup/delivery-settings.ts'
import { visitOf } from '../visit/visit.ts'
import { mailTexts, smsText } from './templates.ts'

/** A code to send to a user. */
interface Code {
  readonly code: string
  readonly channel: Channel
  readonly secondsLeft: number
  readonly purpose: MessagePurpose
}

/** How long a sender may take. */
export const DEADLINE_MS = 10_000

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
    await sendCode(auth, user, to, { code, channel, secondsLeft, purpose }, request)
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

/** Sends a code. Rejects if the sender does, or takes too long. */
function sendCode(
  auth: AuthInstance,
  record: Fields,
  to: string,
  { code, channel, secondsLeft, purpose }: Code,
  request: ApiRequest,
): Promise<void> {
  const { deliver, mail, sms, appName } = auth.settings.delivery
  const user = withoutSecrets(auth, record) as ShownUser
  const values: TemplateValues = {
    code,
    minutes: Math.max(1, Math.ceil(secondsLeft / 60)),
    appName,
    user,
  }
  const message = { to, user, purpose, code, request } as const
  return within(
    DEADLINE_MS,
    async () => {
      if (deliver) await deliver({ user, code, channel, purpose, to, request })
      else if (channel === 'email' && mail) await sendMail(mail, message, values)
      else if (sms)
        await sms.sender({ ...message, text: await smsText(sms.templates, purpose, values) })
    },
    () => new Error(`the ${channel} sender did not respond within ${DEADLINE_MS} ms`),
  )
}

/**
 * Tells the old address of `field` that it was changed, in the background: a failure is only logged. `before` is the
 * account before the change.
 */
export function sendNotice(
  auth: AuthInstance,
  before: Fields,
  field: string,
  request: ApiRequest,
  context: Pick<Context, 'waitUntil'>,
): void {
  const { delivery } = auth.settings
  const channel = channelsThere(auth.settings).find((each) => delivery.toField[each] === field)
  const to = before[field]
  if (!channel || typeof to !== 'string' || to === '') return
  const notice = { code: '', channel, secondsLeft: 0, purpose: 'identifierChanged' } as const
  const sending = sendCode(auth, before, to, notice, request).catch((error: unknown) => {
    auth.host.logger.error(`a notice could not be sent by ${channel}`, {
      ...idsOf(request),
      error: String((error as Error)?.message ?? error),
    })
  })
  context.waitUntil(sending)
}

async function sendMail(
  { sender, transporter, from, templates }: MailSettings,
  message: Omit<CodeMessage, 'text'>,
  values: TemplateValues,
): Promise<void> {
  const texts = await mailTexts(templates, message.purpose, values)
  if (sender) await sender({ ...message, ...texts })
  else await (await transporter?.())?.sendMail({ ...(from && { from }), to: message.to, ...texts })
}
