import { createClient } from '@libsql/client'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { libsqlStore } from '../../../adapters/stores/sqlite/calls/libsql.ts'
import { verify } from '../../../extras/contract/index.ts'
import { createApp, defineModel } from '../../../src/index.ts'
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

it.each(['bigint', 'string'] as const)(
  'a client of your own must have integers as numbers, not as %s',
  async (intMode) => {
    const client = createClient({ url: ':memory:', intMode })
    const app = createApp({ store: libsqlStore({ client }) })
    app.store.collection(defineModel('Counted', { fields: { name: z.string() } }))
    await expect(app.ready()).rejects.toThrow(
      new TypeError("libsqlStore: the client needs intMode: 'number', which is the default"),
    )
    client.close()
  },
)
