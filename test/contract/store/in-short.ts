/**
 * The store contract as the tests of this repository run it.
 *
 * @module
 */

import type { Contract } from '../../../src/contract/index.ts'
import { storePromises } from '../../../src/contract/store/contract.ts'
import { workloads } from '../../../src/contract/store/workload.ts'
import type { Store } from '../../../src/ports/store.ts'
import { runs } from '../../runs.ts'

/** The random workload from the first `runs(count)` seeds, of which there are ten: five hundred operations each. */
export function someWorkloads(count: number): Contract<Store> {
  return Object.fromEntries(Object.entries(workloads).slice(0, runs(count)))
}

/** Every promise one by one, and random operations that rely on all of them. */
export const contractInShort: Contract<Store> = { ...storePromises, ...someWorkloads(2) }
