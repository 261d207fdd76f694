import { expect, it } from 'vitest'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import type { Store } from '../../src/index.ts'
import { type Service, service } from './service.ts'

const own = ({ post }: Service, profile: object) => post('/auth/social/own', { profile })

it('an account that is made between the two looks for it is found, not a 409', async () => {
  let app: Service | undefined
  let made = false
  const store = sqliteStore()
  const collection: Store['collection'] = (schema) => {
    const users = store.collection(schema)
    if (schema.name !== 'users') return users
    return {
      ...users,
      async find(read) {
        // The first look, for the provider's id, finds nothing; then another sign-in is faster.
        const found = await users.find(read)
        if (app && !made) {
          made = true
          expect((await own(app, person)).status).toBe(200)
        }
        return found
      },
    }
  }
  const person = { id: 'p', email: 'ann@example.com', emailVerified: true }
  const shared = await service({
    store: { ...store, collection },
    auth: { social: { own: { verify: ({ profile }) => profile as never } } },
    unique: ['ownId'],
  })
  app = shared
  expect((await own(shared, person)).status).toBe(200)
  expect(await shared.users.count()).toBe(1)
})
