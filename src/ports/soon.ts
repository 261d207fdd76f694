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
