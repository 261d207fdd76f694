/**
 * Waiting for another connection's lock, while the event loop is free.
 *
 * @module
 */

import { setTimeout as pause } from 'node:timers/promises'

/** How long is waited for another one's transaction, in milliseconds. */
export const PATIENCE_MS = 10_000

/** So soon it is looked again, at first and at last. */
const FIRST_MS = 1
const LAST_MS = 25

const BUSY = 5

/** Whether another connection has the lock that a statement needs. */
export function isBusy(error: unknown): boolean {
  const { errcode } = error as { errcode?: unknown }
  return typeof errcode === 'number' && (errcode & 0xff) === BUSY
}

/** How long to wait before the next look, by how often it was looked. */
export function pauseAfter(looks: number): number {
  return Math.min(FIRST_MS * 2 ** looks, LAST_MS)
}

/** Does `work`, again and again while another connection has the lock. Throws what it throws, at last that too. */
export async function patiently<T>(work: () => T): Promise<T> {
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
