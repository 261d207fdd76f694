/**
 * Mail over SMTP with Nodemailer, for runtimes with sockets: used for `mail.transport`.
 *
 * @module
 */

import type { MailTransporter } from '../../src/ports/services/mailer.ts'

/**
 * A transporter for a server, given by its URL or by Nodemailer's options. Rejects with a `TypeError` if Nodemailer
 * cannot be loaded.
 */
export async function smtpTransporter(
  transport: string | Readonly<Record<string, unknown>>,
): Promise<MailTransporter> {
  const { createTransport } = await nodemailer()
  return createTransport(transport as string)
}

async function nodemailer(): Promise<typeof import('nodemailer')> {
  // Within `try`, every bundler lets an app without the package pass; Turbopack refuses it with `catch` on the import.
  try {
    const found = await import('nodemailer')
    // Next.js with webpack gives an empty module for a package that is absent.
    if (!('createTransport' in found)) throw new Error('nodemailer is an empty module')
    return found
  } catch (cause) {
    throw new TypeError("Auth: 'mail.transport' needs nodemailer: npm install nodemailer", {
      cause,
    })
  }
}
