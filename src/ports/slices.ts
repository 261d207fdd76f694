/**
 * Long work in slices: between two of them other requests have their turn.
 *
 * @module
 */

/** Milliseconds of a slice. */
const SLICE_MS = 8
/** The steps of a slice at most: on Workers the clock stands still while they compute. */
const SLICE_STEPS = 20_000
/** Steps between two looks at the clock, which cost as much as some of them. */
const LOOK_AFTER = 32

/** The slices of one piece of work. */
export class Slices {
  #until = performance.now() + SLICE_MS
  #steps = 0
  #lookAt = LOOK_AFTER

  /** Whether the slice is over, after another `steps` values. */
  isOver(steps = 1): boolean {
    this.#steps += steps
    if (this.#steps < this.#lookAt) return false
    this.#lookAt = this.#steps + LOOK_AFTER
    return this.#steps > SLICE_STEPS || performance.now() > this.#until
  }

  /** Lets others have their turn, and begins the next slice. */
  async next(): Promise<void> {
    await nextTurn()
    this.#until = performance.now() + SLICE_MS
    this.#steps = 0
    this.#lookAt = LOOK_AFTER
  }
}

/** The timer as it is now: tests that stop the clock later on do not stop work on large values. */
const later = globalThis.setTimeout.bind(globalThis)

/** Resolves in a later turn of the event loop. */
export function nextTurn(): Promise<void> {
  // No message to itself, which takes a millisecond less: Bun takes ten of those before it looks at anything else.
  return new Promise((resolve) => later(resolve, 0))
}

/** Values with at least so many values in them are gone through in slices. */
export const LARGE = 1000

/** Containers that are known to be large: to count the keys of a large object takes as long as to go through it. */
const knownAsLarge = new WeakSet<object>()

/** Whether a JSON value has `least` values in it or more. */
export function isLarge(value: unknown, least: number = LARGE): value is object {
  if (typeof value !== 'object' || value === null) return false
  if (least === LARGE && knownAsLarge.has(value)) return true
  const large = sizeUpTo(value, least) >= least
  if (large && least === LARGE) knownAsLarge.add(value)
  return large
}

/** The number of values in a JSON value, itself included; `limit` once it is no longer below that. */
export function sizeUpTo(value: unknown, limit: number): number {
  if (typeof value !== 'object' || value === null) return 1
  if (limit <= LARGE && knownAsLarge.has(value)) return limit
  const members: readonly unknown[] = Array.isArray(value) ? value : Object.values(value)
  let size = 1 + members.length
  for (let at = 0; at < members.length && size < limit; at += 1) {
    const member = members[at]
    if (typeof member === 'object') size += sizeUpTo(member, limit - size + 1) - 1
  }
  return Math.min(size, limit)
}
