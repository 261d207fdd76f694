/**
 * Receivers whose deliveries take long and fail. They get one at a time, and a pause after it, so that those of others do not
 * wait for them.
 */

import { pauseAfter } from '../lease.ts'

/** A failure that takes as long as this holds others up. */
const SLOW_MS = 5000
/** The longest pause between two deliveries then, in milliseconds. */
const LONGEST_MS = 300_000

/** A failure that stands for another one: nothing was tried. */
export class Resting extends Error {}

interface Slow {
  readonly inARow: number
  readonly message: string
  /** When it gets the next delivery; never while it has one. */
  readonly until: number
}

/** What is known of receivers, by their names. */
export class Receivers {
  readonly #now: () => number
  readonly #slow = new Map<string, Slow>()

  constructor(now: () => number) {
    this.#now = now
  }

  /** Does what delivers to `to`, or rejects at once if that has failed slowly of late. */
  async try<T>(to: string, deliver: () => Promise<T>): Promise<T> {
    const known = this.#slow.get(to)
    if (known) {
      if (this.#now() < known.until) throw new Resting(known.message)
      this.#slow.set(to, { ...known, until: Number.POSITIVE_INFINITY })
    }
    const from = this.#now()
    try {
      const result = await deliver()
      this.#slow.delete(to)
      return result
    } catch (error) {
      if (this.#now() - from < SLOW_MS) this.#slow.delete(to)
      else {
        const inARow = (known?.inARow ?? 0) + 1
        const pause = Math.min(LONGEST_MS, pauseAfter(inARow))
        const message = String((error as Error)?.message ?? error)
        this.#slow.set(to, { inARow, message, until: this.#now() + pause })
      }
      throw error
    }
  }
}
