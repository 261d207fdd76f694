/**
 * Mail over SMTP with Nodemailer, for runtimes with sockets: used for `mail.transport`.
 *
 * @module
 */

import type { MailTransporter } from '../../src/ports/mailer.ts'

/**
 * A transporter for a server, given by its URL or by Nodemailer's options. Rejects with a `TypeError` if Nodemailer
 * cannot be loaded.
 */
export async function smtpTransporter(
  transport: string | Readonly<Record<string, unknown>>,
): Promise<MailTransporter> {
  // With `catch` on the import, bundlers let an app without the package pass.
  const { createTransport } = await import('nodemailer').catch((cause: unknown) => {
    throw new TypeError("Auth: 'mail.transport' needs nodemailer: npm install nodemailer", {
      cause,
    })
  })
  return createTransport(transport as string)
}
