/** The port for a value that code started by `run` can read, across any number of promises. */
export interface AsyncContext<T> {
  /** Runs `work` with `value` readable inside it, and returns what `work` returns. */
  run<R>(value: T, work: () => R): R
  /** The value set by the enclosing `run`; undefined outside of one. */
  getStore(): T | undefined
}
