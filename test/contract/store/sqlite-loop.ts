/**
 * The contract in a plain loop, for runtimes without the test runner: `deno run -A sqlite-loop.ts`.
 *
 * @module
 */

import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import type { Store } from '../../../src/ports/store.ts'
import type { Contract } from '../suite.ts'
import { storeContract } from './contract.ts'

const cases: Contract<Store> = storeContract
let kept = 0
for (const [sentence, check] of Object.entries(cases)) {
  const store = sqliteStore()
  try {
    await check(store)
    kept += 1
  } catch (error) {
    console.error(`${sentence}: ${(error as Error).stack ?? error}`)
  } finally {
    await store.close()
  }
}
console.log(`${kept} of ${Object.keys(cases).length} kept`)
