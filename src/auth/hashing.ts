/**
 * Bounded password hashing: as many computations at once as there are cores, a bounded queue, then 503.
 *
 * @module
 */

import { busy } from './refusals.ts'

/** A flood of sign-ins fills a queue, not the memory: each computation takes 16 MiB while it runs. */
const MAX_ADMITTED = 256
const DEFAULT_CORES = 2
const MAX_SLOTS = 16

/** Lets requests in that will hash, and computations run. */
export interface Hashing {
  /**
   * Runs a request that will hash. Throws 503 when too many are under way already: before anything was
   * counted against an account.
   */
  admit<T>(request: () => Promise<T>): Promise<T>
  /** Runs one computation, when it is its turn. */
  run<T>(computation: () => T | Promise<T>): Promise<T>
}

/** The hashing of one app. */
export function boundedHashing(cores: number = coresHere()): Hashing {
  let free = Math.min(cores, MAX_SLOTS)
  let admitted = 0
  const waiting: (() => void)[] = []
  return {
    async admit(request) {
      if (admitted >= MAX_ADMITTED) throw busy()
      admitted += 1
      try {
        return await request()
      } finally {
        admitted -= 1
      }
    },
    async run(computation) {
      if (free > 0) free -= 1
      else await new Promise<void>((resolve) => waiting.push(resolve))
      try {
        return await computation()
      } finally {
        // A waiting computation takes over the slot.
        const next = waiting.shift()
        if (next) next()
        else free += 1
      }
    },
  }
}

function coresHere(): number {
  const { navigator } = globalThis as { navigator?: { hardwareConcurrency?: number } }
  return navigator?.hardwareConcurrency || DEFAULT_CORES
}
