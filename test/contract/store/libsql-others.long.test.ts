import { afterAll, describe, it } from 'vitest'
import { libsqlStore } from '../../../adapters/stores/sqlite/calls/libsql.ts'
import { verify } from '../../../extras/contract/index.ts'
import { storePromises } from '../../../extras/contract/store/contract.ts'
import { startLibsql } from '../../services/libsql.ts'
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

const server = await startLibsql('a token')
afterAll(() => server.stop())

verify(
  'libSQL on a server',
  contractInShort,
  {
    open() {
      server.empty()
      return libsqlStore({ url: server.url, authToken: 'a token' })
    },
    close: (store) => store.close(),
  },
  { describe, it },
)
