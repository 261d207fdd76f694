/** What is made once, when it is first needed. */

/** What `make` makes of each object, which is made again only once the object is gone. */
export function madeOnce<Of extends object, Made>(make: (of: Of) => Made): (of: Of) => Made {
  const known = new WeakMap<Of, Made>()
  return (of) => {
    const before = known.get(of)
    if (before !== undefined) return before
    const made = make(of)
    known.set(of, made)
    return made
  }
}

/**
 * The promise that `start` returns: all share one, but after a failure the next who asks starts anew. So do those who wait
 * for one that has died, on Workers, with the request that began it.
 */
export function startedOnce<T>(start: () => Promise<T>): () => Promise<T> {
  let started: Promise<T> | undefined
  const ask = (): Promise<T> => {
    started ??= start().catch((error: unknown) => {
      started = undefined
      throw error
    })
    const shared = started
    return shared.catch((error: unknown) => {
      // One that has failed by itself is not there any more.
      if (started !== shared) throw error
      started = undefined
      return ask()
    })
  }
  return ask
}
