import { MongoClient } from 'mongodb'
import { afterAll } from 'vitest'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { withService } from '../../services/shared.ts'
import { walks } from './walk.ts'

await withService('mongo', ({ url }) => {
  const database = `walk-${crypto.randomUUID()}`
  afterAll(async () => {
    const client = new MongoClient(url)
    await client.db(database).dropDatabase()
    await client.close()
  })

  walks('MongoDB', { open: () => mongoStore({ url, database }), walks: 30 })
})
