/**
 * What every store promises: each sentence of src/ports/store.ts and src/ports/filter.ts as a case.
 *
 * @module
 */

import type { Store } from '../../../src/ports/store.ts'
import type { Contract } from '../suite.ts'
import { declarations } from './declared.ts'
import { filters } from './filters.ts'
import { orders } from './orders.ts'
import { workloads } from './workload.ts'
import { writes } from './writes.ts'

/** The promises one by one; a case gets a fresh, empty store. */
export const storePromises = {
  ...filters,
  ...orders,
  ...writes,
  ...declarations,
} satisfies Contract<Store>

/** The store contract: the promises, and five thousand random operations that rest on all of them. */
export const storeContract = { ...storePromises, ...workloads } satisfies Contract<Store>
