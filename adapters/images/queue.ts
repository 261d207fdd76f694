/**
 * One task after the other.
 *
 * @module
 */

/** Runs tasks in the order in which they are given, each after the one before has settled. */
export type Queue = <T>(task: () => Promise<T>) => Promise<T>

/** Images that wait longer are stored as they came: clients wait with them. */
const PATIENCE_MS = 20_000

/** A queue that rejects a task whose turn does not come in time. */
export function oneAtATime(): Queue {
  let last: Promise<unknown> = Promise.resolve()
  return (task) => {
    const asked = performance.now()
    const result = last.then(() => {
      if (performance.now() - asked > PATIENCE_MS) throw new Error('too many images are waiting')
      return task()
    })
    last = result.catch(() => {})
    return result
  }
}
