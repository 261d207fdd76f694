/**
 * Mails of your own, sent as those of accounts are.
 *
 * @module
 */

import type { MailMessage } from '../../ports/mailer.ts'
import { withTimeout } from '../../ports/with-timeout.ts'
import { fail, group } from '../option-checks.ts'
import type { MailSettings } from '../setup/delivery-settings.ts'
import { DEADLINE_MS } from './send-message.ts'

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
  const { sender, transporter, from } = settings
  await withTimeout(
    DEADLINE_MS,
    async () => {
      if (sender) await sender({ ...message, code: '' })
      else await (await transporter?.())?.sendMail({ ...(from && { from }), ...message })
    },
    () => new Error(`the email sender did not respond within ${DEADLINE_MS} ms`),
  )
}
