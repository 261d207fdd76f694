import { valueIn } from '../../model/model.ts'
import type { Fields } from '../../ports/store/records.ts'
import type {
  MailTemplate,
  MessagePurpose,
  SentMail,
  SMS_PURPOSES,
  SmsOptions,
  TemplateValues,
} from '../setup/delivery-options.ts'
import type { MailSettings } from '../setup/delivery-settings.ts'

const IGNORE = 'If you did not ask for it, ignore this message.'
const ACT = 'If this was not you, reset your password now.'
const ACT_AND_TELL =
  'If this was not you, reset your password now, and tell the people of {{appName}}.'

/** A notice: what happened, when, by whom, and what to do. */
function notice(subject: string, what: string, act = ACT): Required<MailTemplate> {
  return {
    subject,
    text: `${what}\n\nTime: {{time}}\nFrom: {{client}}\n\n${act}\n`,
    html: `<p>${what}</p><p>Time: {{time}}<br>From: {{client}}</p><p>${act}</p>`,
  }
}

/** A code, what it is, and how long it is valid. */
function coded(what: string, subject: string = `Your {{appName}} ${what}`): Required<MailTemplate> {
  const sentence = (code: string) =>
    `Your {{appName}} ${what} is ${code}. It is valid for {{minutes}} minutes.`
  return {
    subject,
    text: `${sentence('{{code}}')}\n\n${IGNORE}\n`,
    html: `<p>${sentence('<strong>{{code}}</strong>')}</p><p>${IGNORE}</p>`,
  }
}

const MAIL: Readonly<Record<MessagePurpose, Required<MailTemplate>>> = {
  passwordReset: coded('password reset code'),
  emailVerification: coded('confirmation code', 'Confirm your email address for {{appName}}'),
  signInCode: coded('sign-in code'),
  identifierChanged: notice(
    'Your {{appName}} account was changed',
    'The way you sign in to your {{appName}} account is being changed.',
  ),
  passwordChanged: notice(
    'Your {{appName}} password was changed',
    'The password of your {{appName}} account was changed.',
  ),
  providerLinked: notice(
    'A new way to sign in to {{appName}}',
    'Your {{appName}} account can now be opened by a sign-in with {{provider}}.',
    ACT_AND_TELL,
  ),
  providerUnlinked: notice(
    'One way less to sign in to {{appName}}',
    'Your {{appName}} account can no longer be opened by a sign-in with {{provider}}.',
    ACT_AND_TELL,
  ),
  factorAdded: notice(
    'A second step for your {{appName}} account',
    'A second step was added to the sign-in of your {{appName}} account.',
    ACT_AND_TELL,
  ),
  factorRemoved: notice(
    'No second step for your {{appName}} account',
    'A second step was removed from the sign-in of your {{appName}} account.',
    ACT_AND_TELL,
  ),
  newClient: notice(
    'A new sign-in to {{appName}}',
    'Someone signed in to your {{appName}} account from a device or network that it did not know.',
  ),
}

export type SmsPurpose = (typeof SMS_PURPOSES)[number]

const SMS: Readonly<Record<SmsPurpose, string>> = {
  passwordReset: '{{code}} is your {{appName}} password reset code, valid for {{minutes}} minutes.',
  emailVerification:
    '{{code}} is your {{appName}} confirmation code, valid for {{minutes}} minutes.',
  identifierChanged: `The way you sign in to your {{appName}} account is being changed. ${ACT}`,
}

const PLACE = /\{\{\s*(code|minutes|appName|time|client|provider|user(?:\.[^\s.{}]+)+)\s*\}\}/gu

/** A mail's subject and bodies. If a template sets the text or the HTML, the default HTML is not used. */
export async function mailTexts(
  templates: MailSettings['templates'],
  purpose: MessagePurpose,
  values: TemplateValues,
): Promise<Pick<SentMail, 'subject' | 'text' | 'html'>> {
  const template = templates[purpose] ?? {}
  const standard = filled(MAIL[purpose], values)
  // A function's result is final: a user's name that contains `{{code}}` is not filled in.
  const own: MailTemplate =
    typeof template === 'function' ? ((await template(values)) ?? {}) : filled(template, values)
  const html = own.text === undefined && own.html === undefined ? standard.html : own.html
  return {
    // A line break in a subject would start another header.
    subject: (own.subject ?? standard.subject).replace(/[\p{Cc}\u2028\u2029]+/gu, ' '),
    text: own.text ?? standard.text,
    ...(html !== undefined && { html }),
  }
}

function filled<T extends MailTemplate>(template: T, values: TemplateValues): T {
  const parts = Object.entries(template).map(([part, text]: [string, string | undefined]) => [
    part,
    text && fill(text, values, part === 'html' ? escapeHtml : String),
  ])
  return Object.fromEntries(parts)
}

export async function smsText(
  templates: SmsOptions['templates'],
  purpose: SmsPurpose,
  values: TemplateValues,
): Promise<string> {
  const template = templates?.[purpose]
  if (typeof template === 'function') return template(values)
  return fill(template ?? SMS[purpose], values, String)
}

function fill(template: string, values: TemplateValues, write: (value: string) => string): string {
  return template.replace(PLACE, (_, path: string) => {
    return write(String(valueIn(values as unknown as Fields, path) ?? ''))
  })
}

function escapeHtml(value: string): string {
  const data = value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return data.replaceAll('"', '&quot;').replaceAll("'", '&#39;')
}
