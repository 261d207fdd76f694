import { MongoClient } from 'mongodb'
import { afterAll, describe, it } from 'vitest'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { workloads } from '../../../src/contract/store/workload.ts'
import { verify } from '../../../src/contract/verify.ts'
import { withService } from '../../services/shared.ts'
import { mixedNames } from './mixed-names.ts'

await withService('mongo', ({ url }) => {
  const admin = new MongoClient(url)
  const databases: string[] = []
  afterAll(async () => {
    for (const database of databases) await admin.db(database).dropDatabase()
    await admin.close()
  })

  verify(
    'MongoDB, with half of the records under earlier names',
    workloads,
    {
      open() {
        const database = `renamed-${crypto.randomUUID()}`
        databases.push(database)
        return mixedNames(mongoStore({ url, database }), 1)
      },
      close: (store) => store.close(),
    },
    { describe, it },
  )
})
