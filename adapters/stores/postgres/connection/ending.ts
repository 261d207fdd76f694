/**
 * Reads that end before they are done: their time is over, or their request's.
 *
 * @module
 */

import { StoreTimeout } from '../../../../src/ports/store.ts'

/** Ends one read. */
export class Ending {
  #cancel = (): void => {}
  #isOver = false

  /** The statement has been sent; `cancel` asks the server to end it. */
  readonly sent = (cancel: () => void): void => {
    this.#cancel = cancel
    if (this.#isOver) cancel()
  }

  /** The result of `run`, which is not called once the read is over. */
  unlessOver<T>(run: () => Promise<T>): Promise<T> {
    return this.#isOver ? Promise.reject(tooLong()) : run()
  }

  /** The result of `reading`, unless the signal aborts or `ms` milliseconds are over first. */
  async of<T>(reading: Promise<T>, signal: AbortSignal | undefined, ms?: number): Promise<T> {
    if (!signal && ms === undefined) return reading
    const { promise: over, reject } = Promise.withResolvers<never>()
    const end = (reason: unknown) => {
      reject(reason)
      this.#isOver = true
      // It rejects too, when the server has ended it.
      reading.catch(() => {})
      this.#cancel()
    }
    const abort = () => end(signal?.reason)
    signal?.addEventListener('abort', abort, { once: true })
    const timer = ms === undefined ? undefined : setTimeout(() => end(tooLong()), ms)
    try {
      return await Promise.race([reading, over])
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    }
  }
}

/** The error of a read that took too long. */
export function tooLong(): StoreTimeout {
  return new StoreTimeout('the read took too long')
}
