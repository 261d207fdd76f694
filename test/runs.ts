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

/**
 * What turns from day to day where one run tries some of many cases that are alike: the days since 1970, or `FIELDGATE_DAY`.
 * Say it where such a test fails: with the same day it tries the same cases.
 */
export const day: number = Number(
  process.env.FIELDGATE_DAY ?? Math.floor(Date.now() / (24 * 60 * 60 * 1000)),
)
if (!Number.isInteger(day)) throw new TypeError('FIELDGATE_DAY must be a whole number')

/** Before the first seed: who runs the tests once tries the same cases as everyone, longer runs try others on each day. */
export const beforeSeeds: number = FACTOR === 1 ? 0 : day * 1000

/** As many seeds as `runs(count)`, for `it.each`. */
export function seeds(count: number): readonly number[] {
  return Array.from({ length: runs(count) }, (_, at) => beforeSeeds + at + 1)
}

/** Each `every`th of `all`, others on each day and all of them in `every` days; all at once with `FIELDGATE_RUNS` as large. */
export function ofToday<T>(all: readonly T[], every: number): readonly T[] {
  const steps = Math.max(1, Math.round(every / FACTOR))
  return all.filter((_, at) => (at + day) % steps === 0)
}

/** The same for fast-check, which says the seed of a failure. */
export const seeded: { readonly seed?: number } = FACTOR === 1 ? { seed: 1 } : {}
