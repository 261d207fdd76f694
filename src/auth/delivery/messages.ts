/**
 * Hands a message to its sender, by mail or SMS, within a deadline; those of accounts after the response was sent, so that
 * its duration tells the client nothing. A notice tells the owner of an account what happened to it (ASVS 6.3.7), at the
 * address that is proven after it; if it fails, that is logged and nothing else.
 */

import { withTimeout } from '../../ports/promises/with-timeout.ts'
import { idsOf } from '../../ports/services/logger.ts'
import type { MailMessage } from '../../ports/services/mailer.ts'
import type { Fields } from '../../ports/store/records.ts'
import { messageText } from '../../ports/values/causes.ts'
import type { AuthRequest } from '../instance/instance.ts'
import { fail, group } from '../option-checks.ts'
import { report } from '../request-info.ts'
import type {
  Channel,
  CodeMessage,
  MessagePurpose,
  NoticeKind,
  SentMail,
  ShownUser,
  SMS_PURPOSES,
  TemplateValues,
} from '../setup/delivery-options.ts'
import { channelsThere, isThere, type MailSettings } from '../setup/delivery-settings.ts'
import { mailTexts, type SmsPurpose, smsText } from './templates.ts'

const DEADLINE_MS = 10_000

/** A client's key comes from your `client` option: no lines of its own in a message, and no page of text. */
const MAX_CLIENT_LENGTH = 64

export interface Message {
  readonly to: string
  readonly channel: Channel
  readonly purpose: MessagePurpose
  /** A notice has none. */
  readonly code?: string
  readonly expiresAt?: Date
  readonly provider?: string
}

export function sendMessage(auth: AuthRequest, record: Fields, message: Message): Promise<void> {
  const { deliver, mail, sms } = auth.settings.delivery
  const { to, channel, purpose, code = '' } = message
  const user = auth.users.withoutSecrets(record) as ShownUser
  const values = valuesOf(auth, message, user)
  // A live request holds sockets, which refer to themselves: `JSON.stringify` would throw.
  const request: PropertyDescriptor = { value: auth.request }
  const sent = <T extends object>(more: T) =>
    Object.defineProperty({ to, user, purpose, code, ...more }, 'request', request) as CodeMessage &
      T
  return inTime(channel, async () => {
    if (deliver) await deliver(sent({ channel }))
    else if (channel === 'email' && mail) {
      const texts = await mailTexts(mail.templates, purpose, values)
      await handOver(mail, { to, ...texts }, sent(texts))
    } else if (sms) {
      const text = await smsText(sms.templates, purpose as SmsPurpose, values)
      await sms.sender(sent({ text }))
    }
  })
}

function inTime(channel: Channel, send: () => Promise<void>): Promise<void> {
  const late = () => new Error(`the ${channel} sender did not respond within ${DEADLINE_MS} ms`)
  return withTimeout(DEADLINE_MS, send, late)
}

function valuesOf(
  { settings, users, client = 'unknown' }: AuthRequest,
  { code = '', expiresAt, provider = '' }: Message,
  user: ShownUser,
): TemplateValues {
  return {
    code,
    minutes: Math.max(1, Math.ceil((Number(expiresAt ?? 0) - users.now()) / 60_000)),
    appName: settings.delivery.appName,
    time: `${new Date(users.now()).toISOString().slice(0, 16).replace('T', ' ')} UTC`,
    client: client.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').slice(0, MAX_CLIENT_LENGTH),
    provider,
    user,
  }
}

async function handOver(
  { sender, transporter, from }: MailSettings,
  mail: OwnMail,
  sent: SentMail,
): Promise<void> {
  if (sender) await sender(sent)
  else await (await transporter?.())?.sendMail({ ...(from && { from }), ...mail })
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
  await inTime('email', () => handOver(settings, message, { ...message, code: '' }))
}

type NoticePurpose = Exclude<MessagePurpose, (typeof SMS_PURPOSES)[number] | 'signInCode'>

const KINDS: Readonly<Record<NoticePurpose, NoticeKind>> = {
  passwordChanged: 'password',
  providerLinked: 'provider',
  providerUnlinked: 'provider',
  factorAdded: 'factor',
  factorRemoved: 'factor',
  newClient: 'newClient',
}

/** Tells the owner of `user`, as it is after what happened. A disabled account, or one without a proven address, is told nothing. */
export function tell(
  auth: AuthRequest,
  user: Fields,
  purpose: NoticePurpose,
  provider?: string,
): void {
  const { settings, users, identifiers } = auth
  const { email } = users.names
  const to = user[email]
  // If your mails go to another address than the identifier, that one is not meant for them.
  const isMailed = isThere(settings, 'email') && settings.delivery.toField.email === email
  if (!settings.notices.has(KINDS[purpose]) || !isMailed) return
  if (typeof to !== 'string' || users.isDisabled(user) || !identifiers.isProven(user, email)) return
  send(auth, user, { to, channel: 'email', purpose, ...(provider && { provider }) })
}

/** Reports what a proof or a reset has ended and linked, by the account before and after it, and tells the owner. */
export async function tellOfEnded(auth: AuthRequest, before: Fields, after: Fields): Promise<void> {
  tellOfProviders(auth, before, after)
  const { takeovers } = auth.users.names
  if (before[takeovers] === after[takeovers]) return
  try {
    // Their records are there still, and of no use.
    for (const { bearer } of auth.methods) {
      if (await bearer?.has?.(before)) report(auth, 'key-removed', after._id)
    }
    if (!auth.factors || (await auth.factors.of(before)).length === 0) return
    report(auth, 'factor-removed', after._id)
    tell(auth, after, 'factorRemoved')
  } catch (error) {
    // It is done: that must not look as if it had failed.
    const told = { ...idsOf(auth.request), error: messageText(error) }
    auth.logger.error('the factors and keys that have ended could not be read', told)
  }
}

/** The providers that `after` has and `before` has not, and the other way round. */
function tellOfProviders(auth: AuthRequest, before: Fields, after: Fields): void {
  for (const { name, idField } of auth.settings.providers.values()) {
    const was = before[idField] ?? undefined
    const is = after[idField] ?? undefined
    if (was === is) continue
    if (was !== undefined) {
      report(auth, 'provider-unlinked', after._id, name)
      tell(auth, after, 'providerUnlinked', name)
    }
    if (is !== undefined) {
      report(auth, 'provider-linked', after._id, name)
      tell(auth, after, 'providerLinked', name)
    }
  }
}

/** Tells the old address of `field` that it was changed. `before` is the account before the change. */
export function tellOldAddress(auth: AuthRequest, before: Fields, field: string): void {
  const { delivery, notices } = auth.settings
  const channel = channelsThere(auth.settings).find((each) => delivery.toField[each] === field)
  const to = before[field]
  if (!notices.has('address') || !channel || typeof to !== 'string' || to === '') return
  send(auth, before, { to, channel, purpose: 'identifierChanged' })
}

function send(auth: AuthRequest, user: Fields, notice: Message): void {
  const { logger, request } = auth
  const work = auth.afterResponse(async () => {
    try {
      await sendMessage(auth, user, notice)
    } catch (error) {
      const told = messageText(error)
      const ids = idsOf(request)
      logger.error(`a notice could not be sent by ${notice.channel}`, { ...ids, error: told })
    }
  })
  if (work) auth.context.waitUntil(work)
  else logger.error('too much is being sent: one notice was dropped', idsOf(request))
}
