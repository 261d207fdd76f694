/**
 * What a server did in one round.
 *
 * @module
 */

import type { Load } from './load.ts'

/** What a server did in one round at one number of connections. */
export interface Sample extends Load {
  readonly connections: number
  /** Processor time of the server for each request. */
  readonly cpuMicroseconds: number
  /** Resident memory after the load. */
  readonly memoryMiB: number
  /** The part of it that is no file. */
  readonly ownMemoryMiB: number
  /** How often the other clients of a burden were answered in a second. */
  readonly othersPerSecond?: number
  /** The same server without the work's burden. */
  readonly unburdened?: { readonly p50Ms: number; readonly cpuMicroseconds: number }
}

/** Stands for a sample that was thrown out. */
export function unknownSample(connections: number): Sample {
  return {
    connections,
    requestsPerSecond: Number.NaN,
    p50Ms: Number.NaN,
    p99Ms: Number.NaN,
    errors: Number.NaN,
    cpuMicroseconds: Number.NaN,
    memoryMiB: Number.NaN,
    ownMemoryMiB: Number.NaN,
  }
}

/** How many times as long half of the reads take at most beside others; NaN for a work without such clients. */
export function slowdownOf({ p50Ms, unburdened, othersPerSecond }: Sample): number {
  if (!unburdened || othersPerSecond === undefined) return Number.NaN
  return p50Ms / unburdened.p50Ms
}

/** Microseconds of processor time that the burden adds to a request; NaN for a work without one, or with other clients. */
export function addedOf({ cpuMicroseconds, unburdened, othersPerSecond }: Sample): number {
  if (!unburdened || othersPerSecond !== undefined) return Number.NaN
  return cpuMicroseconds - unburdened.cpuMicroseconds
}
