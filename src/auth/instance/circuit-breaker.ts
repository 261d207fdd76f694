/**
 * Reacts to a sender's failures: once it is known to be down, every request for a code gets the same 503 for some
 * seconds. A failure is never reported only to the request that met it: that would reveal which accounts exist.
 *
 * @module
 */

import { notSent } from '../refusals.ts'

/** Tracks the latest failures of one way to send. */
export interface Breaker {
  /** Throws the 503 while the sender is known to be down. */
  check(): void
  /** Records that a message to `recipient` could not be sent. */
  failed(recipient: string, error: unknown): void
  /** Records that one was sent. */
  succeeded(): void
}

const OPEN_SECONDS = 30
/** Failures for this many different recipients in a row, within the window, are the sender's fault. */
const RECIPIENTS = 3
const WINDOW_MS = 60_000
/**
 * A recipient counts again only after this time: someone with a few bad addresses must not keep the breaker open for
 * ever.
 */
const COUNTED_MS = 3_600_000
const MAX_COUNTED = 10_000

/** A circuit breaker; `now` returns epoch milliseconds. */
export function breaker(now: () => number): Breaker {
  let openUntil = 0
  let latest: number[] = []
  const counted = new Map<string, number>()
  const open = () => {
    openUntil = now() + OPEN_SECONDS * 1000
    latest = []
  }
  return {
    check() {
      const left = openUntil - now()
      if (left > 0) throw notSent(Math.ceil(left / 1000))
    },
    failed(recipient, error) {
      const cause = causeOf(error)
      if (cause === 'connection') return open()
      if (cause === 'recipient' || now() - (counted.get(recipient) ?? -Infinity) < COUNTED_MS)
        return
      if (counted.size >= MAX_COUNTED) counted.clear()
      counted.set(recipient, now())
      latest = [...latest.filter((at) => now() - at < WINDOW_MS), now()]
      if (latest.length >= RECIPIENTS) open()
    },
    succeeded() {
      latest = []
    },
  }
}

/** The codes by which Node, Bun, Deno and Nodemailer report a server that cannot be reached, or refuses the login. */
const CONNECTION =
  /^(ECONN(REFUSED|RESET|ABORTED|ECTION)|ETIMEDOUT|ENOTFOUND|EAI_\w+|EDNS|EHOST\w+|ENET\w+|EPIPE|ESOCKET|ETLS|EAUTH|ENOAUTH|EOAUTH2|EPROXY|ConnectionRefused|UND_ERR_\w+)$/

const MAX_CAUSES = 5

/**
 * What an error, or its cause, is about: the connection to the sender's server, or this one recipient; undefined if
 * unknown. If an SMTP server refuses a recipient, Nodemailer's code is `EENVELOPE`.
 */
function causeOf(error: unknown, depth = 0): 'connection' | 'recipient' | undefined {
  if (typeof error !== 'object' || error === null || depth >= MAX_CAUSES) return undefined
  const { code, command, cause, errors } = error as Readonly<Record<string, unknown>>
  if (code === 'EENVELOPE') return command === 'MAIL FROM' ? undefined : 'recipient'
  if (typeof code === 'string' && CONNECTION.test(code)) return 'connection'
  return causeOf(cause ?? [errors].flat()[0], depth + 1)
}
