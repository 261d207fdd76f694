import { MongoClient } from 'mongodb'
import { onTestFinished } from 'vitest'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { withService } from '../../services/shared.ts'
import { addressOf, storeAt } from '../../stores/postgres/address.ts'
import { freshSchemas } from '../../stores/postgres/schemas.ts'
import { evolutions } from './suite.ts'

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)
  const database = async () => {
    const address = addressOf(url, fresh())
    return () => storeAt(address)
  }
  evolutions('PostgreSQL', database, 10, { hasColumns: true })
})

await withService('mongo', ({ url }) => {
  const database = async () => {
    const name = `evolution-${crypto.randomUUID()}`
    onTestFinished(async () => {
      const client = await MongoClient.connect(url)
      await client.db(name).dropDatabase()
      await client.close()
    })
    return () => mongoStore({ url, database: name })
  }
  evolutions('MongoDB', database, 10, { hasColumns: false })
})
