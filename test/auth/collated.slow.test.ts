/** Accounts in a collection that another program has made, which takes other strings for equal. */

import { MongoClient } from 'mongodb'
import { expect, it } from 'vitest'
import { mongoStore } from '../../adapters/stores/mongodb/index.ts'
import { withService } from '../services/shared.ts'
import { freshDatabases } from '../stores/mongodb/databases.ts'
import { userModel } from './accounts.ts'
import { service } from './service.ts'

await withService('mongo', ({ url }) => {
  const fresh = freshDatabases(url)

  it("a provider's user opens no account with an id or an address that is only alike", async () => {
    const database = fresh()
    const provider = { verify: (body: { profile?: never }) => body.profile }
    const social = { own: provider, second: provider }
    const options = { unique: ['ownId', 'secondId'], auth: { social } as never }
    const { collection } = userModel(options)
    const client = new MongoClient(url)
    const collation = { locale: 'en', strength: 1, numericOrdering: true }
    await client.db(database).createCollection(collection, { collation })
    await client.close()
    const { post } = await service({ ...options, store: mongoStore({ url, database }) })
    const arrive = async (from: 'own' | 'second', id: string, email: string) => {
      const profile = { id, email, emailVerified: true }
      const { status, body } = await post(`/auth/social/${from}`, { profile })
      return [status, body.data?.user.email]
    }
    expect(await arrive('own', 'a', 'ann1@example.com')).toEqual([200, 'ann1@example.com'])
    for (const email of ['ann01@example.com', 'änn1@example.com']) {
      expect(await arrive('second', email, email)).toEqual([409, undefined])
    }
    expect(await arrive('own', 'A', 'other@example.com')).toEqual([409, undefined])
    expect(await arrive('second', 'b', 'ann1@example.com')).toEqual([200, 'ann1@example.com'])
  })
})
