import { MongoClient } from 'mongodb'
import { afterAll } from 'vitest'
import { withService } from '../../services/shared.ts'
import { references } from './suite.ts'

/** Each step is a transaction, so fewer rounds. */
const ROUNDS = 200

await withService('mongo', ({ url }) => {
  const databases: string[] = []
  afterAll(async () => {
    const client = new MongoClient(url)
    // MongoDB waits until the transactions of killed processes expire, which takes a minute.
    for (const database of databases) await client.db(database).dropDatabase()
    await client.close()
  }, 300_000)

  references(
    'MongoDB',
    () => {
      const database = `race-${crypto.randomUUID()}`
      databases.push(database)
      return { url, database }
    },
    ROUNDS,
  )
})
