/** Receivers that take long, to respond or to fail: they share a part of the slots, so that those of others go on. */

/** What takes longer is long, in milliseconds. */
const LONG_MS = 5000

const LONGEST_REST_MS = 3_600_000

/** Nothing was tried, and the next try is at `until`. */
export class Resting extends Error {
  readonly until: number

  constructor(until: number) {
    super('the receiver takes long, and has others')
    this.until = until
  }
}

export class Receivers {
  readonly #now: () => number
  readonly #mostSlow: number
  /** Those whose last delivery took long, each with the turn it gave last; and how many deliveries they have now. */
  readonly #slow = new Map<string, number>()
  #slowNow = 0

  /** Of so many slots. */
  constructor(now: () => number, slots: number) {
    this.#now = now
    this.#mostSlow = Math.ceil(slots / 2)
  }

  /** Forgets what the step before has left running: on Workers it may have been ended. */
  begin(): void {
    this.#slowNow = 0
  }

  isSlow(to: string): boolean {
    return this.#slow.has(to)
  }

  /** Does what delivers to `to`, or rejects at once if others should not wait for that. */
  async try<T>(to: string, deliver: () => Promise<T>): Promise<T> {
    const from = this.#now()
    const turn = this.#slow.get(to)
    const isSlow = turn !== undefined
    if (isSlow && this.#slowNow >= this.#mostSlow) {
      // As fast as the slots become free: sooner, they would only keep those of others from their tries.
      const next = Math.max(from + LONG_MS, turn + LONG_MS / this.#mostSlow)
      this.#slow.set(to, next)
      throw new Resting(Math.min(next, from + LONGEST_REST_MS))
    }
    if (isSlow) this.#slowNow += 1
    try {
      return await deliver()
    } finally {
      if (isSlow) this.#slowNow -= 1
      if (this.#now() - from > LONG_MS) this.#slow.set(to, turn ?? 0)
      else this.#slow.delete(to)
    }
  }
}
