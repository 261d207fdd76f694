/**
 * Who waits for changes: woken at once by writes of this process, and by a look at the log now and then for those of others.
 */

/** How often the log is looked at while somebody waits, in milliseconds. */
const LOOK_MS = 100
/** How often it is once nothing has come for a minute: some databases cost by the call. */
const QUIET_LOOK_MS = 500
const QUIET_AFTER_MS = 60_000
/** How often each listener makes sure of it: on Workers, what looks ends with the request that has begun it. */
const CHECK_MS = 1000

export class Wakes {
  readonly #look: () => Promise<string>
  readonly #listeners = new Set<() => void>()
  #last: string | undefined
  /** The number of what looks now, and when it has looked last. */
  #turn = 0
  #lookedAt = Number.NEGATIVE_INFINITY
  #changedAt = 0

  /** `look` resolves to something that changes with every entry. */
  constructor(look: () => Promise<string>) {
    this.#look = look
  }

  /** Adds a listener; the function that it returns removes it. */
  readonly wake = (listener: () => void): (() => void) => {
    // Each call is a listener of its own, even of one function.
    const own = () => listener()
    if (this.#listeners.size === 0) this.#lookedAt = Number.NEGATIVE_INFINITY
    this.#listeners.add(own)
    const check = () => {
      if (performance.now() - this.#lookedAt >= CHECK_MS) void this.#watch()
    }
    check()
    const timer = unheld(setInterval(check, CHECK_MS))
    return () => {
      clearInterval(timer)
      this.#listeners.delete(own)
    }
  }

  notify(): void {
    for (const listener of [...this.#listeners]) listener()
  }

  /** Looks until nobody listens, or somebody else looks. */
  async #watch(): Promise<void> {
    this.#turn += 1
    const turn = this.#turn
    while (this.#listeners.size > 0 && turn === this.#turn) {
      this.#lookedAt = performance.now()
      try {
        const found = await this.#look()
        if (found !== this.#last) {
          this.#changedAt = this.#lookedAt
          this.notify()
        }
        this.#last = found
      } catch {
        // Whoever reads next is told of it.
      }
      const isQuiet = this.#lookedAt - this.#changedAt > QUIET_AFTER_MS
      const pause = isQuiet ? QUIET_LOOK_MS : LOOK_MS
      await new Promise<void>((resolve) => unheld(setTimeout(resolve, pause)))
    }
  }
}

/** A timer that keeps no process alive. */
function unheld<T>(timer: T): T {
  ;(timer as { unref?(): void }).unref?.()
  return timer
}
