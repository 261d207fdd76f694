/**
 * An order of waiting keys: round-robin from the first to arrive, or starting with the latest.
 *
 * @module
 */

/** The waiting keys, each with its value. */
export interface Rounds<T> {
  /** How many keys wait. */
  readonly size: number
  get(key: string): T | undefined
  /** Adds a key as the latest arrival. */
  add(key: string, value: T): void
  remove(key: string): void
  /** The key whose turn it is; with `newest` the latest arrival that has had no turn, if there is one. */
  next(newest: boolean): [key: string, value: T] | undefined
  /** Records that a key which still waits has had a turn: all others are before it. */
  served(key: string): void
  /** The key with the most, by `sizeOf`. */
  largest(sizeOf: (value: T) => number): [key: string, value: T] | undefined
}

/** Starts without keys. */
export function rounds<T>(): Rounds<T> {
  const order = new Map<string, T>()
  /** Keys without a turn yet. With the others among them, a flood would always be the newest. */
  const fresh = new Set<string>()
  return {
    get size() {
      return order.size
    },
    get: (key) => order.get(key),
    add(key, value) {
      order.set(key, value)
      fresh.add(key)
    },
    remove(key) {
      order.delete(key)
      fresh.delete(key)
    },
    next(newest) {
      const key = newest ? [...fresh].at(-1) : undefined
      const value = key === undefined ? undefined : order.get(key)
      if (key !== undefined && value !== undefined) return [key, value]
      return order.entries().next().value
    },
    served(key) {
      const value = order.get(key)
      if (value === undefined) return
      order.delete(key)
      order.set(key, value)
      fresh.delete(key)
    },
    largest(sizeOf) {
      let most: [string, T] | undefined
      for (const entry of order) if (!most || sizeOf(entry[1]) > sizeOf(most[1])) most = entry
      return most
    },
  }
}
