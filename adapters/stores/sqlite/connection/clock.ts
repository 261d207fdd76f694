/**
 * The time limit of a read on this thread.
 *
 * @module
 */

import type { DatabaseSync } from 'node:sqlite'
import { StoreTimeout } from '../../../../src/ports/store.ts'
import { addClock } from './functions.ts'

/** Interrupts reads. */
export class Clock {
  #end = Number.POSITIVE_INFINITY

  constructor(db: DatabaseSync) {
    addClock(db, () => performance.now() > this.#end)
  }

  /** The result of `read`, whose statement contains `DEADLINE`. Throws `StoreTimeout` if it is interrupted. */
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

/** A read has exceeded its time limit. */
export function tookTooLong(): StoreTimeout {
  return new StoreTimeout('a read took longer than its time limit')
}
