/**
 * Reacts to a sender's failures: once it is known to be down, requests for a code get the same 503 for some seconds,
 * except one at a time, which finds out whether it works again. A failure is never reported only to the request that
 * met it: that would reveal which accounts exist.
 *
 * Each channel has its own: what happens to one says nothing about the other. And anyone can register addresses that
 * fail, so failures tell of the sender only if several clients meet them, each with a recipient of its own.
 */

import { isFields } from '../../model/writable.ts'
import { nextTurn } from '../../ports/promises/turns.ts'
import { withTimeout } from '../../ports/promises/with-timeout.ts'
import type { Fields } from '../../ports/store/records.ts'
import * as refuse from '../refusals.ts'
import type { Channel } from '../setup/delivery-options.ts'
import type { DeliverySettings } from '../setup/delivery-settings.ts'

export interface SendFailure {
  readonly recipient: string
  /** The client that asked for it; all unknown ones count as one. */
  readonly client: string | undefined
  readonly error: unknown
}

export interface Breaker {
  /** Whether a request may send: always while the sender is not known to be down, else one at a time. */
  admits(): boolean
  /** After how many seconds it admits the next request; 0 for now. */
  secondsLeft(): number
  failed(failure: SendFailure): void
  /** The server could not be reached, whoever the recipient is. */
  unreachable(error: unknown): void
  succeeded(): void
}

/** Without news the breaker closes after this time. */
const OPEN_MS = 30_000
/** While it is open, one request per this time may send: a sender has no longer, so they never overlap. */
const PROBE_MS = 10_000
/** Failures for this many clients and recipients in a row, within the window, are the sender's fault. */
const MIN_CLIENTS = 3
const WINDOW_MS = 60_000
/** A recipient, or a client, counts again only after this time: a few must not keep the breaker open for ever. */
const COUNTED_MS = 3_600_000
const MAX_COUNTED = 10_000

export function breaker(now: () => number): Breaker {
  let openUntil = 0
  let probeAt = 0
  let latest: number[] = []
  const counted = recently(COUNTED_MS, MAX_COUNTED, now)
  const isOpen = () => {
    const left = openUntil - now()
    // A clock that was set back must not keep it open.
    return left > 0 && left <= OPEN_MS
  }
  const open = () => {
    if (!isOpen()) probeAt = now() + PROBE_MS
    openUntil = now() + OPEN_MS
    latest = []
  }
  const secondsLeft = () => {
    const left = isOpen() ? Math.min(probeAt, openUntil) - now() : 0
    return Math.max(0, Math.ceil(left / 1000))
  }
  return {
    secondsLeft,
    admits() {
      if (secondsLeft() > 0) return false
      // For a fixed time: how long the request takes would tell whether there is an account.
      if (isOpen()) probeAt = now() + PROBE_MS
      return true
    },
    failed({ recipient, client, error }) {
      const cause = causeOf(error)
      if (cause === 'recipient') return
      const from = `client ${client ?? ''}`
      const alone = `connection of ${from}`
      if (cause === 'connection' && !counted.has(alone)) {
        counted.note(alone)
        return open()
      }
      const keys = [from, `recipient ${recipient}`]
      if (keys.some(counted.has)) return
      for (const key of keys) counted.note(key)
      latest = [...latest.filter((at) => now() - at < WINDOW_MS), now()]
      if (latest.length >= MIN_CLIENTS) open()
    },
    unreachable(error) {
      if (causeOf(error) === 'connection') open()
    },
    succeeded() {
      openUntil = 0
      latest = []
    },
  }
}

export type Breakers = Readonly<Record<Channel, Breaker>>

/** `channels` with those first whose sender is not known to be down. Throws the 503 if all are. */
export function workingFirst(each: Breakers, channels: readonly Channel[]): readonly Channel[] {
  const works = (channel: Channel) => each[channel].secondsLeft() === 0
  const working = channels.filter(works)
  if (!working.some((channel) => each[channel].admits())) {
    throw refuse.notSent(Math.min(...channels.map((channel) => each[channel].secondsLeft())))
  }
  return [...working, ...channels.filter((channel) => !working.includes(channel))]
}

export interface Recently {
  has(key: string): boolean
  note(key: string): void
}

/** Remembers keys for `milliseconds`. Beyond `most` keys the oldest is forgotten, and no other. */
export function recently(milliseconds: number, most: number, now: () => number): Recently {
  const noted = new Map<string, number>()
  return {
    has(key) {
      const at = noted.get(key)
      // A clock that was set back must not make it last longer.
      return at !== undefined && Math.abs(now() - at) < milliseconds
    },
    note(key) {
      // Deleted first, so that the keys stay in the order of their times.
      noted.delete(key)
      noted.set(key, now())
      const [oldest] = noted.keys()
      if (noted.size > most && oldest !== undefined) noted.delete(oldest)
    },
  }
}

/** The codes by which Node, Bun, Deno and Nodemailer report a server that cannot be reached, or refuses the login. */
const CONNECTION =
  /^(ECONN(REFUSED|RESET|ABORTED|ECTION)|ETIMEDOUT|ENOTFOUND|EAI_\w+|EDNS|EHOST\w+|ENET\w+|EPIPE|ESOCKET|ETLS|EAUTH|ENOAUTH|EOAUTH2|EPROXY|ConnectionRefused|UND_ERR_\w+)$/

/** The statuses below 500 that say something about your account, the request's form or the moment. */
const SENDERS_OWN = new Set([401, 402, 403, 405, 407, 408, 411, 415, 421, 425, 426, 429, 431])

/** Some services answer 400 where they have had enough (AWS), or where the account is at fault. */
const LIMITED = /thrott|limit|quota|toomany|credential|expiredtoken|suspended|unauthori/i

/** Twilio: the number is invalid, in a region that is not allowed, opted out, unreachable, or no mobile phone. */
const TWILIO_NUMBER = new Set([21211, 21214, 21217, 21265, 21408, 21610, 21612, 21614, 21635])

/** What SMTP servers say about a mailbox (RFC 5321, 4.2.3). */
const MAILBOX = new Set([550, 551, 552, 553])

/**
 * What they say about themselves: they end (RFC 5321, 3.8), or their system fails or is full (RFC 3463, 3.4). Without the second
 * code, or with another one, a 451 or 452 may be of one recipient. Or about who sends: a limit, or an address that may not.
 */
const OF_SERVER = /^(?:4(?:21|5[12][ -]4\.3\.)|55\d[ -]5\.(?:1\.[78]|4\.5|7\.(?:57|60))\b)/

const MAX_CAUSES = 5

type Cause = 'connection' | 'recipient' | undefined

/** What an error is about: the connection to the server, or this one recipient; undefined if unknown. */
export function causeOf(error: unknown, depth = 0): Cause {
  if (typeof error !== 'object' || error === null || depth >= MAX_CAUSES) return undefined
  const told = error as Fields
  const { code, command, cause, errors } = told
  // If an SMTP server refuses a recipient, Nodemailer's code is `EENVELOPE`. Some answers tell of itself.
  const isOfServer =
    command === 'MAIL FROM' || OF_SERVER.test(String(told.response ?? told.responseCode))
  if (isOfServer && (code === 'EENVELOPE' || code === 'EMESSAGE')) return undefined
  if (typeof code === 'string' && CONNECTION.test(code)) return 'connection'
  const status = statusOf(told)
  if (namesRecipient(told, status)) return 'recipient'
  return status === undefined ? causeOf(cause ?? [errors].flat()[0], depth + 1) : undefined
}

function namesRecipient({ name, code, responseCode }: Fields, status: number | undefined): boolean {
  if (name === 'BadRecipient' || code === 'EENVELOPE') return true
  if (MAILBOX.has(Number(responseCode)) || TWILIO_NUMBER.has(Number(code))) return true
  // Not by the message: it may quote the recipient.
  const isOurs = SENDERS_OWN.has(status ?? 0) || LIMITED.test(`${name} ${code}`)
  return status !== undefined && status < 500 && !isOurs
}

/** The HTTP status of a service's answer, where the clients of mail and SMS services have it. */
function statusOf(error: Fields): number | undefined {
  const { status, statusCode, code, response, $metadata } = error
  const answer = isFields(response) ? response : {}
  const aws = isFields($metadata) ? $metadata.httpStatusCode : undefined
  const all = [status, statusCode, answer.status, answer.statusCode, aws, code]
  return all.map(Number).find((each) => Number.isInteger(each) && each >= 400 && each < 600)
}

export type MailCheck = (channels: readonly Channel[]) => Promise<void>

const PAUSE_MS = 30_000
const DEADLINE_MS = 10_000

/**
 * From time to time, checks whether the mail server can be reached, and tells the breaker: by the `verify()` of a transporter,
 * such as Nodemailer's. Other senders are not checked.
 */
export function mailCheck(
  { deliver, mail }: DeliverySettings,
  breaker: Breaker,
  now: () => number,
): MailCheck {
  const checked = recently(PAUSE_MS, 1, now)
  return async (channels) => {
    if (deliver || !mail?.transporter || mail.sender || !channels.includes('email')) return
    if (checked.has('server')) return
    checked.note('server')
    try {
      const transporter = await mail.transporter()
      const late = () => new Error('the mail server did not respond')
      await withTimeout(DEADLINE_MS, async () => transporter.verify?.(), late)
    } catch (error) {
      breaker.unreachable(error)
    }
  }
}

/** A flood gets no more memory than this much work. */
const MAX_RUNNING = 1000
/** No work takes as long, in milliseconds. One that does has ended silently, as Workers end what their time is over for. */
const LOST_MS = 300_000

/** A promise that settles when `work` is done; undefined, without starting it, if too much is running. */
export type AfterResponse = (work: () => Promise<void>) => Promise<void> | undefined

export function afterResponse(): AfterResponse {
  const running = new Map<object, number>()
  return (work) => {
    const at = performance.now()
    if (running.size >= MAX_RUNNING) {
      for (const [one, since] of running) if (at - since > LOST_MS) running.delete(one)
    }
    if (running.size >= MAX_RUNNING) return undefined
    const own = {}
    running.set(own, at)
    return (async () => {
      try {
        // Otherwise a store that replies at once would be called before the response is on its way.
        await nextTurn()
        await work()
      } finally {
        running.delete(own)
      }
    })()
  }
}
