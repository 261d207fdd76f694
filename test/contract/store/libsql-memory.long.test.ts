import { describe, it } from 'vitest'
import { libsqlStore } from '../../../adapters/stores/sqlite/libsql.ts'
import { verify } from '../../../extras/contract/index.ts'
import { storePromises } from '../../../extras/contract/store/contract.ts'

verify(
  'libSQL in memory',
  storePromises,
  {
    open: () => libsqlStore({ url: ':memory:' }),
    close: (store) => store.close(),
  },
  { describe, it },
)
