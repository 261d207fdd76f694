/** Receivers that take long, to respond or to fail: they share a part of the slots, so that those of others go on. */

/** What takes longer is long, in milliseconds. */
const LONG_MS = 5000

/** A failure that stands for one that may follow: nothing was tried. */
export class Resting extends Error {}

/** What is known of receivers, by their names. */
export class Receivers {
  readonly #now: () => number
  readonly #mostSlow: number
  /** Those whose last delivery took long, and how many deliveries they have now. */
  readonly #slow = new Set<string>()
  #slowNow = 0

  /** Of so many slots. */
  constructor(now: () => number, slots: number) {
    this.#now = now
    this.#mostSlow = Math.ceil(slots / 2)
  }

  /** Does what delivers to `to`, or rejects at once if others should not wait for that. */
  async try<T>(to: string, deliver: () => Promise<T>): Promise<T> {
    const isSlow = this.#slow.has(to)
    if (isSlow && this.#slowNow >= this.#mostSlow) {
      throw new Resting('the receiver takes long, and has others')
    }
    if (isSlow) this.#slowNow += 1
    const from = this.#now()
    try {
      return await deliver()
    } finally {
      if (isSlow) this.#slowNow -= 1
      if (this.#now() - from > LONG_MS) this.#slow.add(to)
      else this.#slow.delete(to)
    }
  }
}
