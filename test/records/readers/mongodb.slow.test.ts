import { MongoClient } from 'mongodb'
import { afterAll } from 'vitest'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { withService } from '../../services/shared.ts'
import { readers } from './suite.ts'

await withService('mongo', ({ url }) => {
  const databases: string[] = []
  afterAll(async () => {
    const client = new MongoClient(url)
    for (const database of databases) await client.db(database).dropDatabase()
    await client.close()
  })
  const open = () => {
    const database = `readers-${crypto.randomUUID()}`
    databases.push(database)
    return mongoStore({ url, database })
  }
  readers('MongoDB', open, 10)
})
