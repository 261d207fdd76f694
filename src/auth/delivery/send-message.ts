/**
 * Hands a message to its sender, by mail or SMS, within a deadline.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import type { Logger } from '../../ports/logger.ts'
import type { Fields } from '../../ports/store.ts'
import { withTimeout } from '../../ports/with-timeout.ts'
import type { ProvenIdentifiers } from '../accounts/proven-identifiers.ts'
import { type Report, requestInfo } from '../request-info/request-info.ts'
import type {
  Channel,
  MessagePurpose,
  ShownUser,
  TemplateValues,
} from '../setup/delivery-options.ts'
import type { MailSettings } from '../setup/delivery-settings.ts'
import type { AuthSettings } from '../setup/settings.ts'
import type { Users } from '../users/users.ts'
import type { AfterResponse } from './after-response.ts'
import { mailTexts, type SmsPurpose, smsText } from './templates.ts'

/** The parts that a message needs. */
export interface MessageParts {
  readonly users: Users
  readonly settings: AuthSettings
  readonly identifiers: ProvenIdentifiers
  readonly afterResponse: AfterResponse
  readonly report: Report
  readonly logger: Logger
}

/** How long a sender may take. */
export const DEADLINE_MS = 10_000

/** A client's key comes from your `client` option: no lines of its own in a message, and no page of text. */
const MAX_CLIENT_LENGTH = 64

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
  parts: Pick<MessageParts, 'settings' | 'users'>,
  record: Fields,
  message: Message,
  request: ApiRequest,
): Promise<void> {
  const { deliver, mail, sms } = parts.settings.delivery
  const { to, channel, purpose, code } = message
  const user = parts.users.withoutSecrets(record) as ShownUser
  const values = valuesOf(parts, message, user, request)
  const content = { to, user, purpose, code }
  return withTimeout(
    DEADLINE_MS,
    async () => {
      if (deliver) await deliver(withRequest({ ...content, channel }, request))
      else if (channel === 'email' && mail) await sendMail(mail, content, values, request)
      else if (sms) {
        const text = await smsText(sms.templates, purpose as SmsPurpose, values)
        await sms.sender(withRequest({ ...content, text }, request))
      }
    },
    () => new Error(`the ${channel} sender did not respond within ${DEADLINE_MS} ms`),
  )
}

function valuesOf(
  { settings, users }: Pick<MessageParts, 'settings' | 'users'>,
  { code, secondsLeft, provider = '' }: Message,
  user: ShownUser,
  request: ApiRequest,
): TemplateValues {
  const { client = 'unknown' } = requestInfo(request)
  return {
    code,
    minutes: Math.max(1, Math.ceil(secondsLeft / 60)),
    appName: settings.delivery.appName,
    time: `${new Date(users.now()).toISOString().slice(0, 16).replace('T', ' ')} UTC`,
    client: client.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').slice(0, MAX_CLIENT_LENGTH),
    provider,
    user,
  }
}

interface Content {
  readonly to: string
  readonly user: ShownUser
  readonly purpose: MessagePurpose
  readonly code: string
}

async function sendMail(
  { sender, transporter, from, templates }: MailSettings,
  content: Content,
  values: TemplateValues,
  request: ApiRequest,
): Promise<void> {
  const texts = await mailTexts(templates, content.purpose, values)
  if (sender) await sender(withRequest({ ...content, ...texts }, request))
  else await (await transporter?.())?.sendMail({ ...(from && { from }), to: content.to, ...texts })
}

/** A live request holds sockets, which refer to themselves: `JSON.stringify` would throw. */
function withRequest<T extends object>(
  message: T,
  request: ApiRequest,
): T & { readonly request: ApiRequest } {
  return Object.defineProperty(message, 'request', { value: request }) as never
}
