import { MongoClient } from 'mongodb'
import { afterAll } from 'vitest'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { withService } from '../../services/shared.ts'
import { randomScopes } from './random.ts'

await withService('mongo', ({ url }) => {
  const database = `scopes-${crypto.randomUUID()}`
  afterAll(async () => {
    const client = new MongoClient(url)
    await client.db(database).dropDatabase()
    await client.close()
  })

  randomScopes('MongoDB', { open: () => mongoStore({ url, database }), cases: 120 })
})
