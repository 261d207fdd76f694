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

/** The random workload from the first seeds: five hundred operations each, of which there are ten. */
export const someWorkloads: Contract<Store> = Object.fromEntries(
  Object.entries(workloads).slice(0, runs(2)),
)

/** Every promise one by one, and random operations that rely on all of them. */
export const contractInShort: Contract<Store> = { ...storePromises, ...someWorkloads }
