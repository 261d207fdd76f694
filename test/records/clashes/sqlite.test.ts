import { expect, test } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { createRouter, defineModel, type Store } from '../../../src/index.ts'
import { DuplicateKey, StoreUnavailable } from '../../../src/ports/store/store-errors.ts'
import { service } from '../service.ts'
import { clashes } from './clashes.ts'

clashes('SQLite', () => sqliteStore())

test.each(['nobody has the value any more', 'the store cannot be asked'])(
  'when %s, the 409 names what the store reported',
  async (reason) => {
    const real = sqliteStore()
    const store: Store = {
      ...real,
      collection: (schema) => ({
        ...real.collection(schema),
        insert: () => Promise.reject(new DuplicateKey(['email'])),
        find: (read) =>
          reason === 'the store cannot be asked'
            ? Promise.reject(new StoreUnavailable('gone'))
            : real.collection(schema).find(read),
      }),
    }
    const { app, send } = service({ store })
    const Person = defineModel('ClashGone', {
      fields: { nick: z.string(), email: z.string() },
      unique: ['nick', 'email'],
    })
    app.mount('/people', createRouter({ model: Person, blockedFields: [] }))
    const answer = await send('POST', '/people', { json: { nick: 'n', email: 'e' } })
    expect(answer.status).toBe(409)
    expect(answer.body).toMatchObject({
      error: 'Duplicate value for: email.',
      fields: { email: 'Already exists.' },
    })
  },
)
