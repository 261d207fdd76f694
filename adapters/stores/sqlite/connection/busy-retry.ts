/**
 * Waits for another connection's lock without blocking the event loop.
 *
 * @module
 */

import { setTimeout as pause } from 'node:timers/promises'
import { isBusy } from '../layout/errors.ts'

/** How long to wait for another connection's transaction, in milliseconds. */
export const PATIENCE_MS = 10_000

/** The first and the longest pause between two tries. */
const FIRST_MS = 1
const LAST_MS = 25

/** How long to wait before the next try, by the number of tries so far. */
export function pauseAfter(looks: number): number {
  return Math.min(FIRST_MS * 2 ** looks, LAST_MS)
}

/**
 * Does `work`, and repeats it while another connection has the lock. Throws its errors; in the end, that of the lock
 * too.
 */
export async function retryWhileBusy<T>(work: () => T): Promise<T> {
  const deadline = performance.now() + PATIENCE_MS
  for (let looks = 0; ; looks += 1) {
    try {
      return work()
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw error
    }
    await pause(pauseAfter(looks))
  }
}
