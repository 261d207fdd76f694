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
  let started: Attempt<T> | undefined
  const begin = (): Attempt<T> => {
    const done = start().catch((error: unknown) => {
      attempt.hasFailed = true
      if (started === attempt) started = undefined
      throw error
    })
    const attempt = { hasFailed: false, done }
    return attempt
  }
  const ask = (): Promise<T> => {
    started ??= begin()
    const attempt = started
    return attempt.done.catch((error: unknown) => {
      if (attempt.hasFailed) throw error
      // It has died, of which all who waited are told in turn.
      if (started === attempt) started = undefined
      return ask()
    })
  }
  return ask
}

interface Attempt<T> {
  /** Whether it has failed by itself. */
  hasFailed: boolean
  readonly done: Promise<T>
}
