/** `otp.deliver`, `mail` and `sms`, checked: what codes can be sent with. */

import type { Model } from '../../model/model.ts'
import type { MailTransporter } from '../../ports/services/mailer.ts'
import { startedOnce } from '../../ports/values/once.ts'
import {
  type Check,
  callable,
  type Environment,
  fail,
  flagIn,
  group,
  settingsOf,
  string,
  whole,
} from '../option-checks.ts'
import * as refuse from '../refusals.ts'
import {
  type Channel,
  type MailOptions,
  NOTICES,
  type NoticeKind,
  type OtpOptions,
  PURPOSES,
  SMS_PURPOSES,
  type SmsOptions,
} from './delivery-options.ts'
import type { StoredNames } from './field-names.ts'
import type { AuthOptions } from './options.ts'

export interface DeliverySettings {
  readonly appName: string
  readonly deliver: OtpOptions['deliver'] | undefined
  readonly mail: MailSettings | undefined
  readonly sms: SmsOptions | undefined
  readonly toField: Readonly<Record<Channel, string>>
}

interface Sending {
  readonly delivery: DeliverySettings
  readonly model: Model
}

export interface MailSettings {
  readonly sender: MailOptions['sender'] | undefined
  /** Created when the first mail is sent. */
  readonly transporter: (() => Promise<MailTransporter>) | undefined
  readonly from: string | undefined
  readonly templates: NonNullable<MailOptions['templates']>
}

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
  const mail = settingsOf<Record<keyof MailOptions, unknown> & Omit<MailSettings, 'transporter'>>(
    'mail',
    option,
    {
      sender: (name, value) => callable(name, value as MailOptions['sender']),
      transporter: transporterIn,
      transport: (_, value) => value,
      from: string,
      toField: string,
      templates: templatesOf(PURPOSES, checkMailTemplate),
    },
  )
  const { sender, templates } = mail
  const transporter = mail.transporter as MailTransporter | undefined
  const from = mail.from ?? string('MAIL_FROM', env?.MAIL_FROM || undefined)
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

/** Without the environment it is not known yet. */
function checkFrom(from: string | undefined, env: Environment | undefined): void {
  if (env && from === undefined) fail(`'mail.transport' needs 'mail.from', or MAIL_FROM`)
}

function transporterIn(name: string, value: unknown): unknown {
  const sends = typeof (value as MailTransporter | null | undefined)?.sendMail === 'function'
  if (sends || value === undefined) return value
  return fail(`'${name}' must have sendMail(), as Nodemailer's has`)
}

function templatesOf<P extends string>(
  purposes: readonly P[],
  check: (name: string, template: unknown) => void,
): Check<{ readonly [K in P]?: never }> {
  return (name, value) => {
    const templates = group(name, value as { readonly [K in P]?: never } | undefined, purposes)
    for (const purpose of purposes) check(`${name}.${purpose}`, templates[purpose])
    return templates
  }
}

function checkMailTemplate(name: string, template: unknown): void {
  if (template === undefined || typeof template === 'function') return
  const parts = group(name, template as object, ['subject', 'text', 'html'])
  for (const [part, value] of Object.entries(parts)) {
    if (value !== undefined && typeof value !== 'string') fail(`'${name}.${part}' must be a string`)
  }
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

function overSmtp(transport: unknown): () => Promise<MailTransporter> {
  const isOptions = typeof transport === 'object' && transport !== null
  // Nodemailer puts the rest into its errors, with the password.
  const isUrl = /^smtps?:\/\//i.test(String(transport)) && URL.canParse(String(transport))
  if (!isUrl && !isOptions) {
    return fail(
      `'mail.transport', or SMTP_URL, must be a URL of smtp: or smtps:, or Nodemailer's options`,
    )
  }
  // Sockets depend on the runtime, so the transport comes from the package's conditional import.
  return startedOnce(async () => (await import('#smtp')).smtpTransporter(transport as never))
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
  settingsOf<Record<keyof SmsOptions, unknown>>('sms', option, {
    sender: (name, value) => typeof value === 'function' || fail(`'${name}' must be a function`),
    toField: string,
    templates: templatesOf(SMS_PURPOSES, (name, template) => {
      if (!['undefined', 'string', 'function'].includes(typeof template)) {
        fail(`'${name}' must be a string or a function`)
      }
    }),
  })
  return option
}

/** The channels that codes can be sent by, e-mail first. */
export function channelsThere(settings: Sending): readonly Channel[] {
  return (['email', 'sms'] as const).filter((channel) => isThere(settings, channel))
}

export function isThere({ delivery, model }: Sending, channel: Channel): boolean {
  const { deliver, mail, sms, toField } = delivery
  if (deliver) return model.shape.fields.has(toField[channel])
  return channel === 'email' ? mail !== undefined : sms !== undefined
}

/** The channels that the client may mean: the one it names, or all available ones, e-mail first. */
export function channelsFor(settings: Sending, wanted: unknown): readonly Channel[] {
  const there = channelsThere(settings)
  if (wanted === undefined || wanted === null) {
    if (there.length === 0) throw refuse.noSuchChannel('email')
    return there
  }
  if (wanted !== 'email' && wanted !== 'sms') throw refuse.unknownChannel()
  if (!there.includes(wanted)) throw refuse.noSuchChannel(wanted)
  return [wanted]
}
