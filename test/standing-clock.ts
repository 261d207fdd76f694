/**
 * A clock that stands: a time limit that a test is about is over when the test says so, on a machine of any speed.
 *
 * @module
 */

import { onTestFinished, vi } from 'vitest'

/** Stops `setTimeout` until the test ends; `later` moves it. */
export function standingClock(): { later(ms: number): void } {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  return { later: (ms) => void vi.advanceTimersByTime(ms) }
}
