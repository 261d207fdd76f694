/**
 * Mail over SMTP with Nodemailer, for runtimes with sockets: used for `mail.transport`.
 *
 * @module
 */

import type { MailTransporter } from '../../src/ports/mailer.ts'
import { optionalPackage } from '../../src/ports/optional-package.ts'

/**
 * A transporter for a server, given by its URL or by Nodemailer's options. Rejects with a `TypeError` if Nodemailer
 * cannot be loaded.
 */
export async function smtpTransporter(
  transport: string | Readonly<Record<string, unknown>>,
): Promise<MailTransporter> {
  const { createTransport } = await loaded()
  return createTransport(transport as string)
}

function loaded(): Promise<typeof import('nodemailer')> {
  return optionalPackage<typeof import('nodemailer')>('nodemailer').catch((cause: unknown) => {
    throw new TypeError("Auth: 'mail.transport' needs nodemailer: npm install nodemailer", {
      cause,
    })
  })
}
