import { MongoClient } from 'mongodb'
import { afterAll, describe, it } from 'vitest'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { verify } from '../../../extras/contract/index.ts'
import { withService } from '../../services/shared.ts'
import { contractInShort } from './in-short.ts'

await withService('mongo', ({ url }) => {
  const admin = new MongoClient(url)
  const databases: string[] = []
  afterAll(async () => {
    for (const database of databases) await admin.db(database).dropDatabase()
    await admin.close()
  })

  verify(
    'MongoDB',
    contractInShort,
    {
      open() {
        const database = `contract-${crypto.randomUUID()}`
        databases.push(database)
        return mongoStore({ url, database })
      },
      close: (store) => store.close(),
    },
    { describe, it },
  )
})
