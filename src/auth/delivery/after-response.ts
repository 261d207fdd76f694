/**
 * Work done after the response was sent, so that its duration tells the client nothing.
 *
 * @module
 */

/** A flood gets no more memory than this much work. */
const MAX_RUNNING = 1000

/** A promise that settles when `work` is done; undefined, without starting it, if too much is running. */
export type AfterResponse = (work: () => Promise<void>) => Promise<void> | undefined

/** Starts without any work. */
export function afterResponse(): AfterResponse {
  let running = 0
  return (work) => {
    if (running >= MAX_RUNNING) return undefined
    running += 1
    return (async () => {
      try {
        // In a macrotask: otherwise a store that replies at once would be called before the response is on its way.
        await new Promise((resolve) => setTimeout(resolve, 0))
        await work()
      } finally {
        running -= 1
      }
    })()
  }
}
