/**
 * How many connections one kind of call may use at once, so that the others always find one.
 *
 * @module
 */

/** A number of places. Calls beyond it wait, in their order. */
export class Share {
  #free: number
  readonly #waiting = new Set<PromiseWithResolvers<void>>()

  /** `most` is the number of calls that run at the same time. */
  constructor(most: number) {
    this.#free = most
  }

  /** The result of `work`, once there is a place. Rejects with the signal's reason if that aborts first. */
  async use<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    if (this.#free > 0) this.#free -= 1
    else await this.#place(signal)
    try {
      return await work()
    } finally {
      const [next] = this.#waiting
      if (!next) this.#free += 1
      else this.#waiting.delete(next)
      next?.resolve()
    }
  }

  /** Ends the calls that wait for a place. */
  lose(reason: unknown): void {
    for (const { reject } of this.#waiting) reject(reason)
    this.#waiting.clear()
  }

  async #place(signal: AbortSignal | undefined): Promise<void> {
    const place = Promise.withResolvers<void>()
    const abort = () => {
      this.#waiting.delete(place)
      place.reject(signal?.reason)
    }
    this.#waiting.add(place)
    signal?.addEventListener('abort', abort, { once: true })
    try {
      await place.promise
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }
}
