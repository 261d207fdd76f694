/**
 * `otp.deliver`, `mail` and `sms`, checked: what codes can be sent with.
 *
 * @module
 */

import type { MailTransporter } from '../../ports/mailer.ts'
import { callable, fail, flagIn, group, string, whole } from '../option-checks.ts'
import {
  type Channel,
  type MailOptions,
  type MessagePurpose,
  NOTICES,
  type NoticeKind,
  type OtpOptions,
  PURPOSES,
  SMS_PURPOSES,
  type SmsOptions,
} from './delivery-options.ts'
import type { StoredNames } from './field-names.ts'
import type { AuthOptions } from './options.ts'

/** How codes are sent. */
export interface DeliverySettings {
  readonly appName: string
  readonly deliver: OtpOptions['deliver'] | undefined
  readonly mail: MailSettings | undefined
  readonly sms: SmsOptions | undefined
  /** The field with the address, by channel. */
  readonly toField: Readonly<Record<Channel, string>>
}

/** Mail: your own sender, or a transporter. */
export interface MailSettings {
  readonly sender: MailOptions['sender'] | undefined
  /** Created when the first mail is sent. */
  readonly transporter: (() => Promise<MailTransporter>) | undefined
  readonly from: string | undefined
  readonly templates: NonNullable<MailOptions['templates']>
}

type Environment = Readonly<Record<string, unknown>>

/** Resolves the options; without `env` only what does not depend on the environment. */
export function deliverySettings(
  options: AuthOptions<never>,
  names: StoredNames,
  env: Environment | undefined,
): DeliverySettings {
  return {
    appName: string('appName', options.appName) ?? (String(env?.APP_NAME ?? '') || 'App'),
    deliver: callable('otp.deliver', options.otp?.deliver),
    mail: mailSettings(options.mail, env),
    sms: smsSettings(options.sms),
    toField: {
      email: string('mail.toField', options.mail?.toField) ?? names.email,
      sms: string('sms.toField', options.sms?.toField) ?? names.phone,
    },
  }
}

function mailSettings(
  option: MailOptions | undefined,
  env: Environment | undefined,
): MailSettings | undefined {
  const mail = group('mail', option, [
    'transporter',
    'sender',
    'transport',
    'from',
    'toField',
    'templates',
  ])
  const sender = callable('mail.sender', mail.sender)
  const transporter = transporterOf(mail)
  const templates = group('mail.templates', mail.templates, PURPOSES)
  for (const purpose of PURPOSES) checkMailTemplate(purpose, templates[purpose])
  const from = string('mail.from', mail.from) ?? string('MAIL_FROM', env?.MAIL_FROM || undefined)
  if (sender || transporter) {
    return { sender, transporter: transporter && (async () => transporter), from, templates }
  }
  const transport = mail.transport ?? (env && transportIn(env))
  if (transport !== undefined) {
    checkFrom(from, env)
    return { sender, transporter: overSmtp(transport), from, templates }
  }
  if (option && env) fail(`'mail' needs a 'transporter', a 'sender' or a 'transport'`)
  return undefined
}

/** What owners are told of. `otp.deliver` may know codes alone, so by it only the notices of addresses are sent. */
export function noticesOf(
  option: AuthOptions<never>['notices'],
  { deliver, mail }: DeliverySettings,
  env: Environment | undefined,
): ReadonlySet<NoticeKind> {
  if (option === undefined) return new Set(deliver ? ['address'] : NOTICES)
  const list = typeof option === 'boolean' ? (option ? NOTICES : []) : option
  if (!Array.isArray(list) || !list.every((kind) => NOTICES.includes(kind))) {
    fail(
      `'notices' must be true, false or a list of ${NOTICES.map((kind) => `'${kind}'`).join(', ')}`,
    )
  }
  const needsMail = list.some((kind) => kind !== 'address')
  if (env && needsMail && !deliver && !mail) fail(`'notices' needs 'mail'`)
  return new Set(list)
}

function transporterOf({ transporter }: Partial<MailOptions>): MailTransporter | undefined {
  if (transporter !== undefined && typeof transporter?.sendMail !== 'function') {
    fail(`'mail.transporter' must have sendMail(), as Nodemailer's has`)
  }
  return transporter
}

/** Without the environment it is not known yet. */
function checkFrom(from: string | undefined, env: Environment | undefined): void {
  if (env && from === undefined) fail(`'mail.transport' needs 'mail.from', or MAIL_FROM`)
}

function overSmtp(transport: unknown): () => Promise<MailTransporter> {
  const isOptions = typeof transport === 'object' && transport !== null
  if (typeof transport !== 'string' && !isOptions) {
    return fail(`'mail.transport' must be a URL, or Nodemailer's options`)
  }
  return once(() => connect(transport as string | Readonly<Record<string, unknown>>))
}

/** Sockets depend on the runtime, so the transport comes from the package's conditional import. */
async function connect(
  transport: string | Readonly<Record<string, unknown>>,
): Promise<MailTransporter> {
  const { smtpTransporter } = await import('#smtp')
  return smtpTransporter(transport)
}

function transportIn(env: Environment): string | Record<string, unknown> | undefined {
  if (typeof env.SMTP_URL === 'string' && env.SMTP_URL !== '') return env.SMTP_URL
  if (typeof env.SMTP_HOST !== 'string' || env.SMTP_HOST === '') return undefined
  const port = env.SMTP_PORT
    ? whole(0, 1, 65_535)(`the environment's SMTP_PORT`, Number(env.SMTP_PORT))
    : undefined
  if (env.SMTP_USER && !env.SMTP_PASS) fail(`the environment's SMTP_USER needs SMTP_PASS`)
  return {
    host: env.SMTP_HOST,
    ...(port !== undefined && { port }),
    secure: flagIn(env, 'SMTP_SECURE', false) || port === 465,
    ...(env.SMTP_USER
      ? { auth: { user: String(env.SMTP_USER), pass: String(env.SMTP_PASS) } }
      : {}),
  }
}

function smsSettings(option: SmsOptions | undefined): SmsOptions | undefined {
  if (option === undefined) return undefined
  const sms = group('sms', option, ['sender', 'toField', 'templates'])
  if (typeof sms.sender !== 'function') fail(`'sms.sender' must be a function`)
  const templates = group('sms.templates', sms.templates, SMS_PURPOSES)
  for (const purpose of SMS_PURPOSES) {
    if (!['undefined', 'string', 'function'].includes(typeof templates[purpose])) {
      fail(`'sms.templates.${purpose}' must be a string or a function`)
    }
  }
  return option
}

function checkMailTemplate(
  purpose: MessagePurpose,
  template: MailSettings['templates'][MessagePurpose],
): void {
  if (template === undefined || typeof template === 'function') return
  const parts = group(`mail.templates.${purpose}`, template, ['subject', 'text', 'html'])
  for (const [part, value] of Object.entries(parts)) {
    if (value !== undefined && typeof value !== 'string') {
      fail(`'mail.templates.${purpose}.${part}' must be a string`)
    }
  }
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}
