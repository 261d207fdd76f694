/**
 * The cache contract in two parts, so that the promises that wait for a server's clock wait at the same time.
 *
 * @module
 */

import { type Contract, cacheContract, type OpenCache } from '../../../extras/contract/index.ts'

const isTimed = (sentence: string): boolean =>
  /\b(?:its time|own time|the time of)\b/.test(sentence)

function part(timed: boolean): Contract<OpenCache> {
  const all = Object.entries(cacheContract)
  return Object.fromEntries(all.filter(([sentence]) => isTimed(sentence) === timed))
}

/** Promises about when a value goes. */
export const timed: Contract<OpenCache> = part(true)

/** All others. */
export const untimed: Contract<OpenCache> = part(false)
