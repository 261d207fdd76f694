import { MongoClient } from 'mongodb'
import { onTestFinished } from 'vitest'
import { mongoStore } from '../../adapters/stores/mongodb/index.ts'
import { withService } from '../services/shared.ts'
import { changes } from './changes.ts'
import { meanwhile } from './meanwhile.ts'
import type { Database } from './served.ts'

await withService('mongo', ({ url }) => {
  const database: Database = async () => {
    const name = `changes-${crypto.randomUUID()}`
    onTestFinished(async () => {
      const client = await MongoClient.connect(url)
      await client.db(name).dropDatabase()
      await client.close()
    })
    return () => mongoStore({ url, database: name })
  }

  changes('MongoDB', database)
  meanwhile('MongoDB', database)
})
