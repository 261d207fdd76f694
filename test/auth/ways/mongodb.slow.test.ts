import { MongoClient } from 'mongodb'
import { expect, it } from 'vitest'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { withService } from '../../services/shared.ts'
import { explore } from './sequences.ts'

await withService('mongo', ({ url }) => {
  it('the same on MongoDB', { timeout: 600_000 }, async () => {
    const database = `ways-${crypto.randomUUID()}`
    const count = Number(process.env.SEQUENCES ?? 2000)
    try {
      const store = mongoStore({ url, database })
      expect(await explore(store, count, 200_001)).toBeUndefined()
    } finally {
      const client = new MongoClient(url)
      await client.db(database).dropDatabase()
      await client.close()
    }
  })
})
