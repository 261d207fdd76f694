/**
 * The store contract as the tests of this repository run it.
 *
 * @module
 */

import type { Contract } from '../../../extras/contract/index.ts'
import { storePromises } from '../../../extras/contract/store/contract.ts'
import { workloads } from '../../../extras/contract/store/workload.ts'
import type { Store } from '../../../src/ports/store/store.ts'
import { runs } from '../../runs.ts'

/** The seeds by what they are worth: the third finds numbers that SQLite parses slightly wrong, the first two do not. */
const [first, second, ...rest] = Object.entries(workloads)
const ordered = [...rest, first, second].filter((one) => one !== undefined)

/** The random workload from `runs(count)` of its ten seeds: five hundred operations each. */
export function someWorkloads(count: number): Contract<Store> {
  return Object.fromEntries(ordered.slice(0, runs(count)))
}

/** Every promise one by one, and random operations that rely on all of them. */
export const contractInShort: Contract<Store> = { ...storePromises, ...someWorkloads(1) }
