/**
 * Counts concurrent requests. Those beyond a limit are refused at once, so that the others get their responses in time.
 *
 * @module
 */

/** A request that runs longer than this will never end: Workers end one silently when its client goes away. */
const LOST_MS = 10 * 60_000

/** The requests of an app that have arrived and have no response yet. */
export class Load {
  readonly #max: number
  /** When each arrived, in that order. */
  readonly #running = new Map<object, number>()

  /** Allows `max` requests at once; 0 for any number. */
  constructor(max: number) {
    this.#max = max === 0 ? Number.POSITIVE_INFINITY : max
  }

  /** Whether one more request may run. */
  hasRoom(): boolean {
    if (this.#running.size < this.#max) return true
    this.#forgetLost()
    return this.#running.size < this.#max
  }

  begin(request: object): void {
    this.#running.set(request, Date.now())
  }

  end(request: object): void {
    this.#running.delete(request)
  }

  #forgetLost(): void {
    const lost = Date.now() - LOST_MS
    for (const [request, at] of this.#running) {
      if (at > lost) return
      this.#running.delete(request)
    }
  }
}
