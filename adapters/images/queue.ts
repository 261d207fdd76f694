/**
 * Processes one image at a time: a decoded one is many times as large as its file.
 *
 * @module
 */

/** Returns a function that runs tasks in order, each after the previous one has settled. */
export function oneAtATime(): <T>(task: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (task) => {
    const result = last.then(task)
    last = result.catch(() => {})
    return result
  }
}
