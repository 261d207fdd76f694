/**
 * Remembers for a time what has happened, in bounded memory.
 *
 * @module
 */

/** What has happened lately. */
export interface Recently {
  has(key: string): boolean
  note(key: string): void
}

/** Remembers keys for `milliseconds`. Beyond `most` keys the oldest is forgotten, and no other. */
export function recently(milliseconds: number, most: number, now: () => number): Recently {
  const noted = new Map<string, number>()
  return {
    has(key) {
      const at = noted.get(key)
      // A clock that was set back must not make it last longer.
      return at !== undefined && Math.abs(now() - at) < milliseconds
    },
    note(key) {
      // Deleted first, so that the keys stay in the order of their times.
      noted.delete(key)
      noted.set(key, now())
      const [oldest] = noted.keys()
      if (noted.size > most && oldest !== undefined) noted.delete(oldest)
    },
  }
}
