/**
 * The example of a store that others write.
 */

import { describe, it } from 'vitest'
import { memoryStore } from '../../../examples/memory-store/store.ts'
import { storeContract, verify } from '../../../src/contract/index.ts'

verify(
  'the example in memory',
  storeContract,
  { open: memoryStore, close: (store) => store.close() },
  { describe, it },
)
