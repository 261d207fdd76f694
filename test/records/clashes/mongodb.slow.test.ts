import { MongoClient } from 'mongodb'
import { afterAll } from 'vitest'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { withService } from '../../services/shared.ts'
import { clashes } from './clashes.ts'

await withService('mongo', ({ url }) => {
  const client = new MongoClient(url)
  const databases: string[] = []
  afterAll(async () => {
    for (const database of databases) await client.db(database).dropDatabase()
    await client.close()
  })

  clashes('MongoDB', () => {
    const database = `clashes-${crypto.randomUUID()}`
    databases.push(database)
    return mongoStore({ url, database })
  })
})
