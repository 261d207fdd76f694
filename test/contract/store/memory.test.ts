/**
 * The example of a store that others write.
 */

import { describe, it } from 'vitest'
import { memoryStore } from '../../../examples/memory-store/store.ts'
import { verify } from '../../../extras/contract/index.ts'
import { contractInShort } from './in-short.ts'

verify(
  'the example in memory',
  contractInShort,
  { open: memoryStore, close: (store) => store.close() },
  { describe, it },
)
