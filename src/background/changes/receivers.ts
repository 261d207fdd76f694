/**
 * Receivers that fail again and again. Each try of theirs may take a while, so they get one delivery at a time, and a pause
 * after it: those of others do not wait for them.
 */

import { pauseAfter } from '../lease.ts'

/** How often in a row a receiver fails until it gets one delivery at a time; at once if a failure takes so long. */
const MOST_FAILURES = 5
const SLOW_MS = 5000
/** The longest pause between two deliveries then, in milliseconds. */
const LONGEST_MS = 300_000

/** A failure that stands for another one: nothing was tried. */
export class Resting extends Error {}

interface Failing {
  readonly inARow: number
  readonly message: string
  /** When it gets the next delivery; never while it has one. */
  readonly until: number
}

/** What is known of receivers, by their names. */
export class Receivers {
  readonly #now: () => number
  readonly #failing = new Map<string, Failing>()

  constructor(now: () => number) {
    this.#now = now
  }

  /** Does what delivers to `to`, or rejects at once if that has failed too often of late. */
  async try<T>(to: string, deliver: () => Promise<T>): Promise<T> {
    const known = this.#failing.get(to)
    if (known && known.inARow >= MOST_FAILURES) {
      if (this.#now() < known.until) throw new Resting(known.message)
      this.#failing.set(to, { ...known, until: Number.POSITIVE_INFINITY })
    }
    const from = performance.now()
    try {
      const result = await deliver()
      this.#failing.delete(to)
      return result
    } catch (error) {
      const least = performance.now() - from < SLOW_MS ? 0 : MOST_FAILURES
      const inARow = Math.max(least, (this.#failing.get(to)?.inARow ?? 0) + 1)
      const pause = Math.min(LONGEST_MS, pauseAfter(Math.max(1, inARow - MOST_FAILURES + 1)))
      const message = String((error as Error)?.message ?? error)
      this.#failing.set(to, { inARow, message, until: this.#now() + pause })
      throw error
    }
  }
}
