import { MongoClient } from 'mongodb'
import { afterAll } from 'vitest'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { withService } from '../../services/shared.ts'
import { unknownNames } from './names.ts'

await withService('mongo', ({ url }) => {
  const database = `names-${crypto.randomUUID()}`
  afterAll(async () => {
    const client = new MongoClient(url)
    await client.db(database).dropDatabase()
    await client.close()
  })

  unknownNames('MongoDB', () => mongoStore({ url, database }))
})
