/**
 * Who waits for changes: woken at once by writes of this process, and by a look at the log now and then for those of others.
 *
 * @module
 */

/** How often the log is looked at while somebody waits, in milliseconds. */
const LOOK_MS = 100

/** The listeners of one log. */
export class Wakes {
  readonly #look: () => Promise<string>
  readonly #listeners = new Set<() => void>()
  #last: string | undefined
  #isLooking = false

  /** `look` resolves to something that changes with every entry. */
  constructor(look: () => Promise<string>) {
    this.#look = look
  }

  /** Adds a listener; the function that it returns removes it. */
  readonly wake = (listener: () => void): (() => void) => {
    // Each call is a listener of its own, even of one function.
    const own = () => listener()
    this.#listeners.add(own)
    if (!this.#isLooking) {
      this.#isLooking = true
      void this.#watch()
    }
    return () => void this.#listeners.delete(own)
  }

  /** Something was written. */
  notify(): void {
    for (const listener of [...this.#listeners]) listener()
  }

  /** Looks until nobody listens. */
  async #watch(): Promise<void> {
    while (this.#listeners.size > 0) {
      try {
        const found = await this.#look()
        if (found !== this.#last) this.notify()
        this.#last = found
      } catch {
        // Whoever reads next is told of it.
      }
      await new Promise<void>((resolve) => {
        const timer: { unref?(): void } | number = setTimeout(resolve, LOOK_MS)
        if (typeof timer === 'object') timer.unref?.()
      })
    }
    this.#isLooking = false
    this.#last = undefined
  }
}
