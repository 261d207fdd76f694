/**
 * Hands a message to its sender, by mail or SMS, within a deadline.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import type { Fields } from '../../ports/store.ts'
import { within } from '../../ports/within.ts'
import type { AuthInstance } from '../instance/instance.ts'
import { withoutSecrets } from '../instance/user.ts'
import type {
  Channel,
  MessagePurpose,
  ShownUser,
  TemplateValues,
} from '../setup/delivery-options.ts'
import type { MailSettings } from '../setup/delivery-settings.ts'
import { visitOf } from '../visit/visit.ts'
import { mailTexts, type SmsPurpose, smsText } from './templates.ts'

/** How long a sender may take. */
export const DEADLINE_MS = 10_000

/** A client's key comes from your `client` option: no lines of its own in a message, and no page of text. */
const MAX_CLIENT = 64

/** A message to a user. */
export interface Message {
  readonly to: string
  readonly channel: Channel
  readonly purpose: MessagePurpose
  /** Empty in a notice. */
  readonly code: string
  readonly secondsLeft: number
  /** The provider that a notice tells of. */
  readonly provider?: string
}

/** Sends a message. Rejects if the sender does, or takes too long. */
export function sendMessage(
  auth: AuthInstance,
  record: Fields,
  message: Message,
  request: ApiRequest,
): Promise<void> {
  const { deliver, mail, sms } = auth.settings.delivery
  const { to, channel, purpose, code } = message
  const user = withoutSecrets(auth, record) as ShownUser
  const values = valuesOf(auth, message, user, request)
  const parts = { to, user, purpose, code }
  return within(
    DEADLINE_MS,
    async () => {
      if (deliver) await deliver(withRequest({ ...parts, channel }, request))
      else if (channel === 'email' && mail) await sendMail(mail, parts, values, request)
      else if (sms) {
        const text = await smsText(sms.templates, purpose as SmsPurpose, values)
        await sms.sender(withRequest({ ...parts, text }, request))
      }
    },
    () => new Error(`the ${channel} sender did not respond within ${DEADLINE_MS} ms`),
  )
}

function valuesOf(
  { settings, now }: AuthInstance,
  { code, secondsLeft, provider = '' }: Message,
  user: ShownUser,
  request: ApiRequest,
): TemplateValues {
  const { client = 'unknown' } = visitOf(request)
  return {
    code,
    minutes: Math.max(1, Math.ceil(secondsLeft / 60)),
    appName: settings.delivery.appName,
    time: `${new Date(now()).toISOString().slice(0, 16).replace('T', ' ')} UTC`,
    client: client.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').slice(0, MAX_CLIENT),
    provider,
    user,
  }
}

interface Parts {
  readonly to: string
  readonly user: ShownUser
  readonly purpose: MessagePurpose
  readonly code: string
}

async function sendMail(
  { sender, transporter, from, templates }: MailSettings,
  parts: Parts,
  values: TemplateValues,
  request: ApiRequest,
): Promise<void> {
  const texts = await mailTexts(templates, parts.purpose, values)
  if (sender) await sender(withRequest({ ...parts, ...texts }, request))
  else await (await transporter?.())?.sendMail({ ...(from && { from }), to: parts.to, ...texts })
}

/** A live request holds sockets, which refer to themselves: `JSON.stringify` would throw. */
function withRequest<T extends object>(
  message: T,
  request: ApiRequest,
): T & { readonly request: ApiRequest } {
  return Object.defineProperty(message, 'request', { value: request }) as never
}
