/** Conditional writes that others overtake: they are tried again, one after the other. */

import { withTimeout } from '../../ports/promises/with-timeout.ts'

/** How often a compare-and-set is tried before it gives up. */
export const MAX_TRIES = 50
const MAX_PAUSE_MS = 50
/** On Workers, the previous request may have been ended silently. */
const MAX_WAIT_MS = 1000

/** Lets others finish first, for a random time that grows with each try. */
export function pause(tries: number): Promise<void> {
  const longestMs = Math.min(2 ** tries, MAX_PAUSE_MS)
  return new Promise((resolve) => setTimeout(resolve, Math.random() * longestMs))
}

/** How a try ended: with its result, or because another writer has changed the record with this id. */
export type Attempt<T> = { readonly result: T } | { readonly overtaken: string }

const nothing = () => false

/** Lets writers of one record wait for each other, if they would otherwise keep overtaking each other. */
export class SerialQueue {
  /** The end of the last work in the queue, by record. */
  readonly #last = new Map<string, Promise<void>>()

  /** Does `work` when earlier work for the same record has ended, or has not ended within a second. */
  async after<T>(record: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(record)
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#last.set(record, promise)
    try {
      const late = () => new Error('the writer before has not ended')
      if (before) await withTimeout(MAX_WAIT_MS, () => before, late).catch(() => {})
      return await work()
    } finally {
      resolve()
      if (this.#last.get(record) === promise) this.#last.delete(record)
    }
  }

  /**
   * The result of the first attempt that nobody overtakes; undefined if all `maxTries` are. A writer that was overtaken
   * waits for others of this process that were too, so that only other processes can overtake it for long: an attempt that
   * finds its record `awaited` by others is to give way, as one that was overtaken.
   */
  async retry<T>(
    maxTries: number,
    attempt: (awaited: (record: string) => boolean) => Promise<Attempt<T>>,
  ): Promise<{ readonly result: T } | undefined> {
    const first = await attempt((record) => this.#last.has(record))
    if ('result' in first) return first
    return this.after(first.overtaken, async () => {
      for (let tries = 1; tries < maxTries; tries += 1) {
        if (tries > 1) await pause(tries)
        const next = await attempt(nothing)
        if ('result' in next) return next
      }
      return undefined
    })
  }
}
