/**
 * Work done after the response was sent, so that its duration tells the client nothing.
 *
 * @module
 */

/** The most work that may be running; a flood gets no more memory. */
const MOST = 1000

/** Does work after the response. */
export interface Afterwards {
  /** A promise that settles when `work` is done; undefined, without starting it, if too much is running. */
  begin(work: () => Promise<void>): Promise<void> | undefined
}

/** Starts without any work. */
export function afterwards(): Afterwards {
  let underWay = 0
  return {
    begin(work) {
      if (underWay >= MOST) return undefined
      underWay += 1
      return (async () => {
        try {
          // In a macrotask: otherwise a store that replies at once would be called before the response is on its way.
          await new Promise((resolve) => setTimeout(resolve, 0))
          await work()
        } finally {
          underWay -= 1
        }
      })()
    },
  }
}
