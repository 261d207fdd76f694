/* @ts-self-types="./none.d.ts" */
/**
 * What stands for SMTP on runtimes that have no sockets.
 *
 * @module
 */

/**
 * @returns {Promise<never>}
 */
export async function smtpTransporter() {
  throw new TypeError("Auth: 'mail.transport' needs a runtime with sockets; use 'mail.sender' here")
}
