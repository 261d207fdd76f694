/**
 * How many requests there are at once: beyond a limit they are refused at once, so that the others are answered in time.
 *
 * @module
 */

/** After so long a request that has not ended never will: Workers end one without a word when its client goes away. */
const LOST_MS = 10 * 60_000

/** The requests of an app that have arrived and are not answered. */
export class Load {
  readonly #max: number
  /** When each arrived, in that order. */
  readonly #running = new Map<object, number>()

  /** `max` requests at once; 0 for any number. */
  constructor(max: number) {
    this.#max = max === 0 ? Number.POSITIVE_INFINITY : max
  }

  /** Whether there is room for one more. */
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
