import { MongoClient } from 'mongodb'
import { onTestFinished } from 'vitest'
import { mongoStore } from '../../adapters/stores/mongodb/index.ts'
import { withService } from '../services/shared.ts'
import { checks } from './check.ts'

await withService('mongo', ({ url }) => {
  checks('MongoDB', async () => {
    const database = `check-${crypto.randomUUID()}`
    onTestFinished(async () => {
      const client = await MongoClient.connect(url)
      await client.db(database).dropDatabase()
      await client.close()
    })
    return mongoStore({ url, database })
  })
})
