import { createClient } from '@libsql/client'
import { describe, expect, it } from 'vitest'
import { libsqlStore } from '../../../adapters/stores/sqlite/calls/libsql.ts'
import { verify } from '../../../extras/contract/index.ts'
import { newFile } from './file.ts'
import { contractInShort } from './in-short.ts'

verify(
  'libSQL in a file',
  contractInShort,
  {
    open: () => libsqlStore({ url: `file:${newFile()}` }),
    close: (store) => store.close(),
  },
  { describe, it },
)

it('a client of your own stays open when the store closes', async () => {
  const client = createClient({ url: ':memory:' })
  await libsqlStore({ client }).close()
  expect(client.closed).toBe(false)
  client.close()
})
