/**
 * Reacts to a sender's failures: once it is known to be down, requests for a code get the same 503 for some seconds,
 * except one at a time, which finds out whether it works again. A failure is never reported only to the request that
 * met it: that would reveal which accounts exist.
 *
 * Each channel has its own: what happens to one says nothing about the other. And anyone can register addresses that
 * fail, so failures tell of the sender only if several clients meet them, each with a recipient of its own.
 *
 * @module
 */

import { notSent } from '../refusals.ts'
import type { Channel } from '../setup/delivery-options.ts'
import { causeOf } from './send-failures.ts'

/** A message that could not be sent. */
export interface SendFailure {
  readonly recipient: string
  /** The client that asked for it; all unknown ones count as one. */
  readonly client: string | undefined
  readonly error: unknown
}

/** Tracks the latest failures of one way to send. */
export interface Breaker {
  /** Whether a request may send: always while the sender is not known to be down, else one at a time. */
  admits(): boolean
  /** After how many seconds it admits the next request; 0 for now. */
  secondsLeft(): number
  failed(failure: SendFailure): void
  /** Records that the server could not be reached, without a recipient. */
  unreachable(error: unknown): void
  /** Records that a message was sent. */
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

/** A circuit breaker; `now` returns epoch milliseconds. */
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

/** A breaker for each channel. */
export type Breakers = Readonly<Record<Channel, Breaker>>

/** A breaker for each channel; `now` returns epoch milliseconds. */
export function breakers(now: () => number): Breakers {
  return { email: breaker(now), sms: breaker(now) }
}

/** `channels` with those first whose sender is not known to be down. Throws the 503 if all are. */
export function workingFirst(each: Breakers, channels: readonly Channel[]): readonly Channel[] {
  const works = (channel: Channel) => each[channel].secondsLeft() === 0
  const working = channels.filter(works)
  if (!working.some((channel) => each[channel].admits())) {
    throw notSent(Math.min(...channels.map((channel) => each[channel].secondsLeft())))
  }
  return [...working, ...channels.filter((channel) => !working.includes(channel))]
}

/** What has happened lately. */
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
