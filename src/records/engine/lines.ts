/**
 * Lets writers of one record wait for each other, if they would otherwise keep overtaking each other.
 *
 * @module
 */

import { within } from '../../ports/within.ts'

/** On Workers, the previous request may have been ended silently. */
const LONGEST_WAIT_MS = 1000

/** The end of the last work in line, by record. */
export class Lines {
  readonly #last = new Map<string, Promise<void>>()

  /** Does `work` when earlier work for the same record has ended, or has not ended within a second. */
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
