/**
 * The earlier name of `MaybePromise`.
 *
 * @module
 */

export type { MaybePromise as Soon } from './maybe-promise.ts'
