/** The promises of every store: each sentence of src/ports/store/store.ts and src/ports/store/filter.ts as a check. */

import type { Store } from '../../../src/ports/store/store.ts'
import type { Contract } from '../verify.ts'
import { aggregates } from './aggregates.ts'
import { changes } from './changes.ts'
import { declarations } from './declared.ts'
import { filters } from './filters.ts'
import { guards } from './guards.ts'
import { orders } from './orders.ts'
import { positions } from './positions.ts'
import { searches } from './searches.ts'
import { startUp } from './start-up.ts'
import { together } from './together.ts'
import { workloads } from './workload.ts'
import { writes } from './writes.ts'

/** The promises one by one; a check gets a fresh, empty store. */
export const storePromises: Contract<Store> = {
  ...filters,
  ...searches,
  ...orders,
  ...positions,
  ...aggregates,
  ...writes,
  ...together,
  ...guards,
  ...changes,
  ...startUp,
  ...declarations,
}

/** The store contract: the promises, and five thousand random operations that rely on all of them. */
export const storeContract: Contract<Store> = { ...storePromises, ...workloads }
