/**
 * Hands a message to its sender, by mail or SMS, within a deadline; those of accounts after the response was sent, so that
 * its duration tells the client nothing.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import type { Logger } from '../../ports/logger.ts'
import type { MailMessage } from '../../ports/mailer.ts'
import type { Fields } from '../../ports/store.ts'
import { withTimeout } from '../../ports/with-timeout.ts'
import type { ProvenIdentifiers } from '../accounts/proven-identifiers.ts'
import type { Codes } from '../codes/codes.ts'
import { fail, group } from '../option-checks.ts'
import { type Report, requestInfo } from '../request-info/request-info.ts'
import type {
  Channel,
  CodeMessage,
  MessagePurpose,
  SentMail,
  ShownUser,
  TemplateValues,
} from '../setup/delivery-options.ts'
import type { MailSettings } from '../setup/delivery-settings.ts'
import type { AuthSettings } from '../setup/settings.ts'
import type { DummyWrite } from '../users/dummy-writes.ts'
import type { Users } from '../users/users.ts'
import type { Breakers, MailCheck } from './circuit-breaker.ts'
import { mailTexts, type SmsPurpose, smsText } from './templates.ts'

/** The parts that messages need, and requests for codes. */
export interface MessageParts {
  readonly users: Users
  readonly settings: AuthSettings
  readonly identifiers: ProvenIdentifiers
  readonly afterResponse: AfterResponse
  readonly report: Report
  readonly logger: Logger
  readonly codes: Codes
  readonly breakers: Breakers
  readonly mailCheck: MailCheck
  readonly dummyWrite: DummyWrite
}

/** How long a sender may take. */
const DEADLINE_MS = 10_000

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

type Content = Pick<CodeMessage, 'to' | 'user' | 'purpose' | 'code'>

async function sendMail(
  settings: MailSettings,
  content: Content,
  values: TemplateValues,
  request: ApiRequest,
): Promise<void> {
  const texts = await mailTexts(settings.templates, content.purpose, values)
  const sent = withRequest({ ...content, ...texts }, request)
  await handOver(settings, { to: content.to, ...texts }, sent)
}

/** Hands a mail to the transporter, or `sent` to your own sender. */
async function handOver(
  { sender, transporter, from }: MailSettings,
  mail: OwnMail,
  sent: SentMail,
): Promise<void> {
  if (sender) await sender(sent)
  else await (await transporter?.())?.sendMail({ ...(from && { from }), ...mail })
}

/** A live request holds sockets, which refer to themselves: `JSON.stringify` would throw. */
function withRequest<T extends object>(
  message: T,
  request: ApiRequest,
): T & { readonly request: ApiRequest } {
  return Object.defineProperty(message, 'request', { value: request }) as never
}

/** A flood gets no more memory than this much work. */
const MAX_RUNNING = 1000

/** A promise that settles when `work` is done; undefined, without starting it, if too much is running. */
export type AfterResponse = (work: () => Promise<void>) => Promise<void> | undefined

/** Starts without any work. */
export function afterResponse(): AfterResponse {
  let running = 0
  return (work) => {
    if (running >= MAX_RUNNING) return undefined
    running += 1
    return (async () => {
      try {
        // In a macrotask: otherwise a store that replies at once would be called before the response is on its way.
        await new Promise((resolve) => setTimeout(resolve, 0))
        await work()
      } finally {
        running -= 1
      }
    })()
  }
}

/** A mail of your own. */
export type OwnMail = Omit<MailMessage, 'from'>

/** Sends mails of your own by the mail that accounts are set up with. */
export interface OwnMails {
  /**
   * Sends a mail from the same address as those of accounts. Rejects if it could not be sent within ten seconds, and with
   * a `TypeError` if accounts have no mail.
   */
  send(mail: OwnMail): Promise<void>
}

/** Sends `mail`, a mail of your own. */
export async function sendOwn(settings: MailSettings | undefined, mail: OwnMail): Promise<void> {
  if (!settings) {
    fail(
      `auth.mail.send() needs 'mail', or the variables SMTP_URL and MAIL_FROM; those are read when the router is mounted`,
    )
  }
  group('mail.send', mail, ['to', 'subject', 'text', 'html'])
  const { to, subject, text, html } = mail
  for (const [name, value] of Object.entries({ to, subject, text, html: html ?? '-' })) {
    if (typeof value !== 'string' || value === '') fail(`'mail.send': '${name}' must be a string`)
  }
  // Line breaks in a header would begin another one.
  for (const [name, value] of Object.entries({ to, subject })) {
    if (/[\r\n]/.test(value)) fail(`'mail.send': '${name}' must be one line`)
  }
  const message = { to, subject, text, ...(html !== undefined && { html }) }
  await withTimeout(
    DEADLINE_MS,
    () => handOver(settings, message, { ...message, code: '' }),
    () => new Error(`the email sender did not respond within ${DEADLINE_MS} ms`),
  )
}
