/**
 * What a work is.
 *
 * @module
 */

import type { Requests } from './load.ts'
import type { StoreName } from './servers.ts'

/** One kind of work. */
export interface Work {
  readonly name: string
  /** What fieldgate is asked. */
  readonly requests: Requests
  /** What the others are asked, where that differs. */
  readonly ofPeers?: Requests
  /** Who takes part beside fieldgate and the limit. */
  readonly with: readonly ('peers' | 'runtimes')[]
  /** The stores that it is measured on. Default: all but D1. */
  readonly stores?: readonly StoreName[]
  /** The numbers of connections. Default: those of the run. */
  readonly connections?: readonly number[]
  /** Whether it changes the records, or makes tables. */
  readonly writes?: boolean
  /** The status of fieldgate's answers where they cannot be compared with the others'. */
  readonly status?: number
  /** How long it has to be asked at least where an answer takes so long that 16 connections wait for each other. */
  readonly seconds?: number
  /** Whether it begins with a process that has answered nothing yet, whose start counts as work. */
  readonly cold?: boolean
  /** What the same requests are compared with: each round measures them without it first. */
  readonly burden?: Burden
  /** Headers that depend on an answer of the server. */
  headers?(base: string): Promise<Record<string, string>>
}

/** What may slow requests down that it has nothing to do with. */
export interface Burden {
  /** The path that two other clients ask for, each again as soon as it is answered. */
  readonly others?: string
  /** How many models the server has, of which the last is asked. */
  readonly models?: number
}

/** The stores that hold all works. */
export const DATABASES: readonly StoreName[] = ['sqlite', 'mongodb', 'postgres']

/** Reads of paths, in turn. */
export function get(...paths: readonly string[]): Requests {
  return { method: 'GET', paths }
}
