/**
 * Work that is done when a request has been answered, so that its time tells the client nothing.
 *
 * @module
 */

/** How much of it may be under way; a flood gets no more of the memory. */
const MOST = 1000

/** Does work after the answer. */
export interface Afterwards {
  /** What settles when `work` is done; undefined when too much is under way, and it is not begun. */
  begin(work: () => Promise<void>): Promise<void> | undefined
}

/** Nothing to be done yet. */
export function afterwards(): Afterwards {
  let underWay = 0
  return {
    begin(work) {
      if (underWay >= MOST) return undefined
      underWay += 1
      return (async () => {
        try {
          // A task of its own: a store that answers at once would be asked before the response is on its way.
          await new Promise((resolve) => setTimeout(resolve, 0))
          await work()
        } finally {
          underWay -= 1
        }
      })()
    },
  }
}
