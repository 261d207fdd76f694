/* @ts-self-types="./smtp.d.ts" */
/**
 * Mail over SMTP by Nodemailer, for runtimes that have sockets: what `mail.transport` becomes.
 *
 * @module
 */

/**
 * A transporter to a server, given by its URL or by Nodemailer's options.
 *
 * @param {string | Readonly<Record<string, unknown>>} transport
 * @returns {Promise<import('../../src/ports/mailer.ts').MailTransporter>}
 */
export async function smtpTransporter(transport) {
  const { createTransport } = await import('nodemailer')
  return createTransport(/** @type {string} */ (transport))
}
