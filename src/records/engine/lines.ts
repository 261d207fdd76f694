/**
 * Writers of one record that wait for each other, where they would outrun each other for ever.
 *
 * @module
 */

import { within } from '../../ports/within.ts'

/** On Workers, the request before may have been ended without a word. */
const LONGEST_WAIT_MS = 1000

/** By record: the end of the last in its line. */
export class Lines {
  readonly #last = new Map<string, Promise<void>>()

  /** Does `work` when those that came before it for the same record have ended, or one has not for a second. */
  async after<T>(record: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(record)
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#last.set(record, promise)
    try {
      if (before) await within(LONGEST_WAIT_MS, () => before, late).catch(() => {})
      return await work()
    } finally {
      resolve()
      if (this.#last.get(record) === promise) this.#last.delete(record)
    }
  }
}

function late(): Error {
  return new Error('the writer before has not ended')
}
