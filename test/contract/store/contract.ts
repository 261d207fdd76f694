/**
 * What every store promises: each sentence of src/ports/store.ts and src/ports/filter.ts as a case.
 *
 * @module
 */

import type { Store } from '../../../src/ports/store.ts'
import type { Contract } from '../suite.ts'
import { filters } from './filters.ts'
import { orders } from './orders.ts'
import { writes } from './writes.ts'

/** The store contract; a case gets a fresh, empty store. */
export const storeContract = { ...filters, ...orders, ...writes } satisfies Contract<Store>
