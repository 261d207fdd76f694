/** A value that code run by `run` sees, however many promises lie between. */
export interface AsyncContext<T> {
  run<R>(value: T, work: () => R): R
  getStore(): T | undefined
}

/** A place for the value of the code that runs now. Without an `AsyncLocalStorage` it is always empty. */
export function asyncContext<T>(): AsyncContext<T>
