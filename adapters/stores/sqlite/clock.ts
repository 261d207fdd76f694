/**
 * The time that a read on this thread may take.
 *
 * @module
 */

import type { DatabaseSync } from 'node:sqlite'
import { StoreTimeout } from '../../../src/ports/store.ts'
import { addClock } from './functions.ts'

/** Cuts reads off. */
export class Clock {
  #end = Number.POSITIVE_INFINITY

  constructor(db: DatabaseSync) {
    addClock(db, () => performance.now() > this.#end)
  }

  /** What `read` gives, in whose statement `DEADLINE` stands. Throws `StoreTimeout` when it is cut off. */
  within<T>(limitMs: number, read: () => T): T {
    this.#end = performance.now() + limitMs
    try {
      return read()
    } catch (error) {
      throw performance.now() > this.#end ? tookTooLong() : error
    } finally {
      this.#end = Number.POSITIVE_INFINITY
    }
  }
}

/** A read has taken longer than it may. */
export function tookTooLong(): StoreTimeout {
  return new StoreTimeout('a read took longer than its time limit')
}
