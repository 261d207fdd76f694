/**
 * The content of messages: templates with `{{code}}`, `{{minutes}}`, `{{appName}}` and `{{user.<field>}}`.
 *
 * @module
 */

import { isFields } from '../../model/writable.ts'
import type {
  MailTemplate,
  MessagePurpose,
  SmsOptions,
  TemplateValues,
} from '../setup/delivery-options.ts'
import type { MailSettings } from '../setup/delivery-settings.ts'

/** A mail's subject and bodies, filled in. */
export interface MailTexts {
  readonly subject: string
  readonly text: string
  readonly html?: string
}

const IGNORE = 'If you did not ask for it, ignore this message.'
const ACT = 'If this was not you, reset your password now.'

const MAIL: Readonly<Record<MessagePurpose, Required<MailTemplate>>> = {
  passwordReset: {
    subject: 'Your {{appName}} password reset code',
    text: `Your {{appName}} password reset code is {{code}}. It is valid for {{minutes}} minutes.\n\n${IGNORE}\n`,
    html: `<p>Your {{appName}} password reset code is <strong>{{code}}</strong>. It is valid for {{minutes}} minutes.</p><p>${IGNORE}</p>`,
  },
  emailVerification: {
    subject: 'Confirm your email address for {{appName}}',
    text: `Your {{appName}} confirmation code is {{code}}. It is valid for {{minutes}} minutes.\n\n${IGNORE}\n`,
    html: `<p>Your {{appName}} confirmation code is <strong>{{code}}</strong>. It is valid for {{minutes}} minutes.</p><p>${IGNORE}</p>`,
  },
  identifierChanged: {
    subject: 'Your {{appName}} account was changed',
    text: `The way you sign in to your {{appName}} account is being changed.\n\n${ACT}\n`,
    html: `<p>The way you sign in to your {{appName}} account is being changed.</p><p>${ACT}</p>`,
  },
}
const SMS: Readonly<Record<MessagePurpose, string>> = {
  passwordReset: '{{code}} is your {{appName}} password reset code, valid for {{minutes}} minutes.',
  emailVerification:
    '{{code}} is your {{appName}} confirmation code, valid for {{minutes}} minutes.',
  identifierChanged: `The way you sign in to your {{appName}} account is being changed. ${ACT}`,
}

const PLACE = /\{\{\s*(code|minutes|appName|user\.\w+(?:\.\w+)*)\s*\}\}/g

/** A mail's subject and bodies. If a template sets the text or the HTML, the default HTML is not used. */
export async function mailTexts(
  templates: MailSettings['templates'],
  purpose: MessagePurpose,
  values: TemplateValues,
): Promise<MailTexts> {
  const standard: MailTexts = {
    subject: filled(MAIL[purpose].subject, values, plain),
    text: filled(MAIL[purpose].text, values, plain),
    html: filled(MAIL[purpose].html, values, escaped),
  }
  const { subject, text, html } = await ownTexts(templates[purpose], values)
  const own = text !== undefined || html !== undefined
  const htmlPart = own ? html : standard.html
  return {
    subject: oneLine(subject ?? standard.subject),
    text: text ?? standard.text,
    ...(htmlPart !== undefined && { html: htmlPart }),
  }
}

/** A function's result is final: a user's name that contains `{{code}}` is not filled in. */
async function ownTexts(
  template: MailSettings['templates'][MessagePurpose],
  values: TemplateValues,
): Promise<MailTemplate> {
  if (typeof template === 'function') return (await template(values)) ?? {}
  const { subject, text, html } = template ?? {}
  return {
    ...(subject !== undefined && { subject: filled(subject, values, plain) }),
    ...(text !== undefined && { text: filled(text, values, plain) }),
    ...(html !== undefined && { html: filled(html, values, escaped) }),
  }
}

/** The content of an SMS. */
export async function smsText(
  templates: SmsOptions['templates'],
  purpose: MessagePurpose,
  values: TemplateValues,
): Promise<string> {
  const template = templates?.[purpose]
  if (typeof template === 'function') return template(values)
  return filled(template ?? SMS[purpose], values, plain)
}

function filled(
  template: string,
  values: TemplateValues,
  written: (value: string) => string,
): string {
  return template.replace(PLACE, (_, path: string) => {
    let value: unknown = values
    for (const key of path.split('.')) value = isFields(value) ? value[key] : undefined
    return written(value === undefined || value === null ? '' : String(value))
  })
}

function plain(value: string): string {
  return value
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(value: string): string {
  return value.replace(/[&<>"']/g, (char) => ENTITIES[char] ?? char)
}

/** A line break in a subject would start another header. */
function oneLine(subject: string): string {
  return subject.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
}
