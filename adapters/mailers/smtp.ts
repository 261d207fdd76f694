/**
 * Mail over SMTP by Nodemailer, for runtimes that have sockets: what `mail.transport` becomes.
 *
 * @module
 */

import type { MailTransporter } from '../../src/ports/mailer.ts'

/** A transporter to a server, given by its URL or by Nodemailer's options. */
export async function smtpTransporter(
  transport: string | Readonly<Record<string, unknown>>,
): Promise<MailTransporter> {
  const { createTransport } = await import('nodemailer')
  return createTransport(transport as string)
}
