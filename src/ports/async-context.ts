/**
 * The port for values that follow a request through its promises.
 *
 * @module
 */

/** A value that code run by `run` sees, however many promises lie between. */
export interface AsyncContext<T> {
  /** Runs `work`, which sees `value`, and gives what it gives. */
  run<R>(value: T, work: () => R): R
  /** The value of the code that runs now; undefined outside of `run`. */
  getStore(): T | undefined
}
