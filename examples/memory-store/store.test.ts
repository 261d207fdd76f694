/**
 * The store contract over `store.ts`: `node -C fieldgate-source --test examples/memory-store/store.test.ts` in this
 * repository, `node --test` in a project that has fieldgate installed. node:test works on Deno and Bun, too.
 *
 * @module
 */

import { describe, it } from 'node:test'
import { storeContract, verify } from 'fieldgate/contract'
import { memoryStore } from './store.ts'

verify(
  'a store in memory',
  storeContract,
  { open: memoryStore, close: (store) => store.close() },
  { describe, it },
)
