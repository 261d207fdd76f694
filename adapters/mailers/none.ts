/**
 * No SMTP: for runtimes without sockets.
 *
 * @module
 */

/** Rejects with the reason, and what to use instead. */
export async function smtpTransporter(): Promise<never> {
  throw new TypeError("Auth: 'mail.transport' needs a runtime with sockets; use 'mail.sender' here")
}
