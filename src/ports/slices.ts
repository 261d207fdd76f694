/**
 * Long work done in slices, with other requests getting their turn in between.
 *
 * @module
 */

/** Milliseconds per slice. */
const SLICE_MS = 8
/** The most steps per slice: on Workers, the clock does not advance during computation. */
const SLICE_STEPS = 20_000
/** Steps between two reads of the clock, each of which costs as much as several steps. */
const LOOK_AFTER = 32

/** The slices of one piece of work. Several parts of it may run concurrently; they share each slice. */
export class Slices {
  #until = performance.now() + SLICE_MS
  #steps = 0
  #lookAt = LOOK_AFTER
  readonly #waiting: (() => void)[] = []

  /** Whether the slice is over, after `steps` more values. */
  isOver(steps = 1): boolean {
    this.#steps += steps
    if (this.#steps < this.#lookAt) return false
    this.#lookAt = this.#steps + LOOK_AFTER
    return this.#isPast()
  }

  /** Gives others their turn, and resolves with a new slice. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      if (this.#waiting.length === 1) void this.#wake()
    })
  }

  /** One part per turn: waking all of them would take as many slices at once. */
  async #wake(): Promise<void> {
    await nextTurn()
    this.#until = performance.now() + SLICE_MS
    this.#steps = 0
    this.#lookAt = LOOK_AFTER
    this.#waiting.shift()?.()
    if (this.#waiting.length > 0) void this.#wake()
  }

  #isPast(): boolean {
    return this.#steps > SLICE_STEPS || performance.now() > this.#until
  }
}

/** The timer as it is now: tests that stop the clock later must not stop work on large values. */
const later = globalThis.setTimeout.bind(globalThis)

/**
 * Resolves in a later turn of the event loop. Uses a timer and then a message: before they look at their sockets, Node
 * may run timer after timer, and Bun message after message.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    later(typeof MessageChannel === 'undefined' ? resolve : () => message(resolve), 0)
  })
}

function message(arrived: () => void): void {
  const { port1, port2 } = new MessageChannel()
  port1.onmessage = () => {
    // An open port would keep the process alive.
    port1.close()
    arrived()
  }
  port2.postMessage(null)
}

/** Values that contain at least this many values are processed in slices. */
export const LARGE = 1000

/** Containers known to be large: counting the keys of a large object takes as long as visiting it. */
const knownAsLarge = new WeakSet<object>()

/** Whether a JSON value contains at least `least` values. */
export function isLarge(value: unknown, least: number = LARGE): value is object {
  if (typeof value !== 'object' || value === null) return false
  if (least === LARGE && knownAsLarge.has(value)) return true
  const large = sizeUpTo(value, least) >= least
  if (large && least === LARGE) knownAsLarge.add(value)
  return large
}

/** The number of values in a JSON value, itself included; counting stops at `limit`. */
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
