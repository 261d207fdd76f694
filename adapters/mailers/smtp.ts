/**
 * Mail over SMTP with Nodemailer, for runtimes with sockets: used for `mail.transport`.
 *
 * @module
 */

import type { MailTransporter } from '../../src/ports/mailer.ts'

/** A transporter for a server, given by its URL or by Nodemailer's options. */
export async function smtpTransporter(
  transport: string | Readonly<Record<string, unknown>>,
): Promise<MailTransporter> {
  const { createTransport } = await import('nodemailer')
  return createTransport(transport as string)
}
