/**
 * Values that are there already, or will be.
 *
 * Waiting for a value that is there costs more than a whole read from memory, so what reads share waits only for what is
 * not there yet.
 *
 * @module
 */

/** A value, or the promise of one. */
export type Soon<T> = T | Promise<T>

/** Whether `value` has to be waited for. */
export function isPending(value: unknown): value is Promise<unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as { then?: unknown }).then === 'function'
  )
}

/** What `next` returns for `value`: at once, or when the value is there. */
export function after<T, R>(value: Soon<T>, next: (value: T) => Soon<R>): Soon<R> {
  return isPending(value) ? Promise.resolve(value).then(next) : next(value)
}

/** What `work` returns, or what `failed` makes of its failure, at once or later. */
export function caught<T>(work: () => Soon<T>, failed: (error: unknown) => Soon<T>): Soon<T> {
  try {
    const value = work()
    return isPending(value) ? value.catch(failed) : value
  } catch (error) {
    return failed(error)
  }
}
