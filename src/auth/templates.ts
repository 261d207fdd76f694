/**
 * The texts of messages: templates with `{{code}}`, `{{minutes}}`, `{{appName}}` and `{{user.<field>}}`.
 *
 * @module
 */

import { isFields } from '../model/writable.ts'
import type { MailTemplate, SmsOptions, TemplateValues } from './delivery-options.ts'
import type { MailSettings } from './delivery-settings.ts'

/** A mail's finished texts. */
export interface MailTexts {
  readonly subject: string
  readonly text: string
  readonly html?: string
}

const MAIL = {
  subject: 'Your {{appName}} password reset code',
  text: 'Your {{appName}} password reset code is {{code}}. It is valid for {{minutes}} minutes.\n\nIf you did not ask for it, ignore this message.\n',
  html: '<p>Your {{appName}} password reset code is <strong>{{code}}</strong>. It is valid for {{minutes}} minutes.</p><p>If you did not ask for it, ignore this message.</p>',
}
const SMS = '{{code}} is your {{appName}} password reset code, valid for {{minutes}} minutes.'

const PLACE = /\{\{\s*(code|minutes|appName|user\.\w+(?:\.\w+)*)\s*\}\}/g

/** A mail's texts. A template that gives only one of text and HTML has no default HTML. */
export async function mailTexts(
  template: MailSettings['template'],
  values: TemplateValues,
): Promise<MailTexts> {
  const standard: MailTexts = {
    subject: filled(MAIL.subject, values, plain),
    text: filled(MAIL.text, values, plain),
    html: filled(MAIL.html, values, escaped),
  }
  const { subject, text, html } = await ownTexts(template, values)
  const own = text !== undefined || html !== undefined
  const htmlPart = own ? html : standard.html
  return {
    subject: oneLine(subject ?? standard.subject),
    text: text ?? standard.text,
    ...(htmlPart !== undefined && { html: htmlPart }),
  }
}

/** What a function gives is finished: a user's name that holds `{{code}}` is not filled in. */
async function ownTexts(
  template: MailSettings['template'],
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

/** A text message. */
export async function smsText(
  template: NonNullable<SmsOptions['templates']>['passwordReset'],
  values: TemplateValues,
): Promise<string> {
  return typeof template === 'function' ? template(values) : filled(template ?? SMS, values, plain)
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

/** A line break in a subject would begin a header of the sender's choice. */
function oneLine(subject: string): string {
  return subject.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
}
