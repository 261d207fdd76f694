/** Outages: what a client is told, and what is logged, while a database or a file store is unavailable. */

import { StoreTimeout, StoreUnavailable } from '../../ports/store/store-errors.ts'
import { causesOf, causeText } from '../../ports/values/causes.ts'
import { HttpError, refusal } from './errors.ts'

/** Seconds until a client may retry: about as long as a failover takes. */
const RETRY_AFTER = 5

/** Why a read was ended that nobody waits for any more. */
export const CLIENT_GONE: Error = new Error('the client has gone away')

/** The 503 of an outage; it does not reveal what is unavailable. */
export function unavailable(cause?: unknown): HttpError {
  const headers = { 'Retry-After': String(RETRY_AFTER) }
  return refusal('service-unavailable', 503, 'The service is unavailable. Try again shortly.', {
    headers,
    cause,
  })
}

/** The 503 for an error of the store, or for an error caused by one; undefined for any other error. */
export function outageIn(error: unknown): HttpError | undefined {
  const isOutage = (at: Error) => at instanceof StoreUnavailable || at instanceof StoreTimeout
  return causesOf(error).some(isOutage) ? unavailable(error) : undefined
}

/**
 * Limits the log of an outage to one short line per second for each cause, however many requests fail: returns how many
 * lines were left out since the last one; undefined if this one is to be left out too.
 */
export type OutageLog = (error: unknown) => number | undefined

const PAUSE_MS = 1000
const MAX_KNOWN = 100

/** A log without any outage yet. `now` returns milliseconds. */
export function outageLog(now: () => number = () => performance.now()): OutageLog {
  const known = new Map<string, { at: number; leftOut: number }>()
  return (error) => {
    const text = causeOf(error)
    const last = known.get(text)
    if (last && now() - last.at < PAUSE_MS) {
      last.leftOut += 1
      return undefined
    }
    if (known.size >= MAX_KNOWN) known.clear()
    known.set(text, { at: now(), leftOut: 0 })
    return last?.leftOut ?? 0
  }
}

/** An error's message and those of its causes, on one line without stacks. */
export function causeOf(error: unknown): string {
  // The message for the client explains nothing, so log its cause.
  return causeText(error instanceof HttpError ? (error.cause ?? error) : error)
}
