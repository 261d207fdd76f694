/**
 * What the failure of a sender is about: its server, or one recipient.
 *
 * @module
 */

import { isFields } from '../../model/writable.ts'

/**
 * The codes by which Node, Bun, Deno and Nodemailer report a server that cannot be reached, or refuses the login.
 */
const CONNECTION =
  /^(ECONN(REFUSED|RESET|ABORTED|ECTION)|ETIMEDOUT|ENOTFOUND|EAI_\w+|EDNS|EHOST\w+|ENET\w+|EPIPE|ESOCKET|ETLS|EAUTH|ENOAUTH|EOAUTH2|EPROXY|ConnectionRefused|UND_ERR_\w+)$/

/**
 * The statuses below 500 that say something about your account, or about the moment: credentials, credit, rights, the
 * request's form, a limit.
 */
const SENDERS_OWN = new Set([401, 402, 403, 405, 407, 408, 411, 415, 421, 425, 426, 429, 431])

/** Some services answer 400 where they have had enough (AWS), or where the account is at fault. */
const LIMITED = /thrott|limit|quota|toomany|credential|expiredtoken|suspended|unauthori/i

/** Twilio: the number is invalid, in a region that is not allowed, opted out, unreachable, or no mobile phone. */
const TWILIO_NUMBER = new Set([21211, 21214, 21217, 21265, 21408, 21610, 21612, 21614, 21635])

/** What SMTP servers say about a mailbox (RFC 5321, 4.2.3). */
const MAILBOX = new Set([550, 551, 552, 553])

const MAX_CAUSES = 5

type Cause = 'connection' | 'recipient' | undefined

/**
 * What an error, or its cause, is about: the connection to the sender's server, or this one recipient; undefined if
 * unknown.
 */
export function causeOf(error: unknown, depth = 0): Cause {
  if (typeof error !== 'object' || error === null || depth >= MAX_CAUSES) return undefined
  const { code, command, cause, errors } = error as Readonly<Record<string, unknown>>
  // If an SMTP server refuses a recipient, Nodemailer's code is `EENVELOPE`.
  if (code === 'EENVELOPE') return command === 'MAIL FROM' ? undefined : 'recipient'
  if (typeof code === 'string' && CONNECTION.test(code)) return 'connection'
  const status = statusOf(error as Readonly<Record<string, unknown>>)
  if (namesRecipient(error, status)) return 'recipient'
  return status === undefined ? causeOf(cause ?? [errors].flat()[0], depth + 1) : undefined
}

function namesRecipient(error: object, status: number | undefined): boolean {
  const { name, code, responseCode } = error as Readonly<Record<string, unknown>>
  if (name === 'BadRecipient' || MAILBOX.has(Number(responseCode))) return true
  if (TWILIO_NUMBER.has(Number(code))) return true
  // Not by the message: it may quote the recipient.
  const isOurs = SENDERS_OWN.has(status ?? 0) || LIMITED.test(`${name} ${code}`)
  return status !== undefined && status < 500 && !isOurs
}

/** The HTTP status of a service's answer, where the clients of mail and SMS services have it. */
function statusOf(error: Readonly<Record<string, unknown>>): number | undefined {
  const { status, statusCode, code, response, $metadata } = error
  const answer = isFields(response) ? response : {}
  const aws = isFields($metadata) ? $metadata.httpStatusCode : undefined
  const all = [status, statusCode, answer.status, answer.statusCode, aws, code]
  return all.map(Number).find((each) => Number.isInteger(each) && each >= 400 && each < 600)
}
