/**
 * A pace: work that sometimes has more to do always takes as long as when it has.
 *
 * @module
 */

/** Runs `work`, which says whether it was the long kind, and ends no sooner than the long kind does. */
export type Pace = (work: () => Promise<boolean>) => Promise<void>

const REMEMBERED = 16
const LEAST_MS = 20

/**
 * A pace set by the slowest of the latest long runs. Real time, not the app's clock: it is what a client can
 * measure.
 */
export function paceOf(): Pace {
  const latest: number[] = []
  return async (work) => {
    const start = performance.now()
    try {
      if (await work()) {
        latest.push(performance.now() - start)
        if (latest.length > REMEMBERED) latest.shift()
      }
    } finally {
      const left = Math.max(LEAST_MS, ...latest) - (performance.now() - start)
      // Timers count whole milliseconds; a rest of one would tell the two kinds apart.
      if (left > 0) await new Promise((resolve) => setTimeout(resolve, Math.ceil(left)))
    }
  }
}
