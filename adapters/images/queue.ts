/**
 * One image after the other: a decoded one is many times as large as its file.
 *
 * @module
 */

/** Runs tasks in the order in which they are given, each after the one before has settled. */
export function oneAtATime(): <T>(task: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (task) => {
    const result = last.then(task)
    last = result.catch(() => {})
    return result
  }
}
