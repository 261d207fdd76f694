/** The order of writes. */

/** Runs writes of the same records one after the other: a server takes two at once in any order. */
export function turnsOfRecords(): <T>(
  keys: readonly unknown[],
  work: () => Promise<T>,
) => Promise<T> {
  const turns = new Map<unknown, Promise<unknown>>()
  return async (keys, work) => {
    const mine = Promise.allSettled(keys.map((key) => turns.get(key))).then(work)
    for (const key of keys) turns.set(key, mine)
    try {
      return await mine
    } finally {
      for (const key of keys) if (turns.get(key) === mine) turns.delete(key)
    }
  }
}
