import { describe, it } from 'vitest'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { verify } from '../../../extras/contract/index.ts'
import { storePromises } from '../../../extras/contract/store/contract.ts'
import { newFile } from './file.ts'
import { contractInShort } from './in-short.ts'

verify(
  'SQLite in memory',
  storePromises,
  {
    open: () => sqliteStore(),
    close: (store) => store.close(),
  },
  { describe, it },
)

verify(
  'SQLite in a file',
  contractInShort,
  {
    open: () => sqliteStore({ path: newFile() }),
    close: (store) => store.close(),
  },
  { describe, it },
)
