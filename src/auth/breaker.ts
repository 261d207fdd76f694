/**
 * What follows a sender's failure: for some seconds every request for a code gets the same 503, so that the
 * failure does not tell which accounts exist.
 *
 * @module
 */

import { notSent } from './refusals.ts'

const OPEN_SECONDS = 30

/** Knows of the last failure. */
export interface Breaker {
  /** Throws the 503 while a failure is recent. */
  check(): void
  /** Notes a failure and gives its 503. */
  failed(): Error
}

/** A breaker by the clock `now`, epoch milliseconds. */
export function breaker(now: () => number): Breaker {
  let openUntil = 0
  return {
    check() {
      const left = openUntil - now()
      if (left > 0) throw notSent(Math.ceil(left / 1000))
    },
    failed() {
      openUntil = now() + OPEN_SECONDS * 1000
      return notSent(OPEN_SECONDS)
    },
  }
}
