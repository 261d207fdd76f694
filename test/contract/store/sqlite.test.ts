import { describe, it } from 'vitest'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { verify } from '../../../src/contract/index.ts'
import { storeContract, storePromises } from '../../../src/contract/store/contract.ts'
import { newFile } from './file.ts'

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
  storeContract,
  {
    open: () => sqliteStore({ path: newFile() }),
    close: (store) => store.close(),
  },
  { describe, it },
)
