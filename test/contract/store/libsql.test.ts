import { describe, it } from 'vitest'
import { libsqlStore } from '../../../adapters/stores/sqlite/libsql.ts'
import { verify } from '../../../src/contract/index.ts'
import { storePromises } from '../../../src/contract/store/contract.ts'
import { newFile } from './file.ts'
import { contractInShort } from './in-short.ts'

verify(
  'libSQL in memory',
  storePromises,
  {
    open: () => libsqlStore({ url: ':memory:' }),
    close: (store) => store.close(),
  },
  { describe, it },
)

verify(
  'libSQL in a file',
  contractInShort,
  {
    open: () => libsqlStore({ url: `file:${newFile()}` }),
    close: (store) => store.close(),
  },
  { describe, it },
)
