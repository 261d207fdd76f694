/**
 * Values that are there already, or will be. Waiting for one that is there costs more than a whole read from memory.
 *
 * @module
 */

/** A value, or the promise of one. */
export type Soon<T> = T | Promise<T>
