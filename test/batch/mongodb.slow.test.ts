import { MongoClient } from 'mongodb'
import { afterAll } from 'vitest'
import { mongoStore } from '../../adapters/stores/mongodb/index.ts'
import { withService } from '../services/shared.ts'
import { batches } from './suite.ts'

await withService('mongo', ({ url }) => {
  const databases: string[] = []
  afterAll(async () => {
    const client = new MongoClient(url)
    for (const database of databases) await client.db(database).dropDatabase()
    await client.close()
  })
  batches('MongoDB', (count) => {
    const database = `batches-${crypto.randomUUID()}`
    databases.push(database)
    return Array.from({ length: count }, () => mongoStore({ url, database }))
  })
})
