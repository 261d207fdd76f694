/**
 * How many connections one kind of call may use at once, so that the others always find one.
 *
 * @module
 */

/** A number of places. Calls beyond it wait, in their order. */
export class Share {
  #free: number
  readonly #waiting = new Set<() => void>()

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
      if (next) next()
      else this.#free += 1
    }
  }

  #place(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.delete(enter)
        signal?.removeEventListener('abort', abort)
      }
      const enter = () => {
        leave()
        resolve()
      }
      const abort = () => {
        leave()
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', abort, { once: true })
      this.#waiting.add(enter)
    })
  }
}
