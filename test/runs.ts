/**
 * One factor for all counts of the tests: how often something is tried at random, repeated, killed or timed.
 *
 * @module
 */

const FACTOR = Number(process.env.FIELDGATE_RUNS ?? 1)
if (!(FACTOR > 0)) throw new TypeError('FIELDGATE_RUNS must be a number above 0')

/**
 * `count` times `FIELDGATE_RUNS` (default 1, as in CI; 20 before a release), at least 1. Give the smallest count that still
 * fails for the fault that the test guards against.
 */
export function runs(count: number): number {
  return Math.max(1, Math.round(count * FACTOR))
}

/** The seeds 1 to `runs(count)`, for `it.each`. */
export function seeds(count: number): readonly number[] {
  return Array.from({ length: runs(count) }, (_, at) => at + 1)
}

/** For fast-check: who runs the tests once tries the same cases as everyone, longer runs try others. */
export const seeded: { readonly seed?: number } = FACTOR === 1 ? { seed: 1 } : {}
