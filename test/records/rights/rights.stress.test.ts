import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { withService } from '../../services/shared.ts'
import { freshDatabases } from '../../stores/mongodb/databases.ts'
import { addressOf, storeAt } from '../../stores/postgres/address.ts'
import { freshSchemas } from '../../stores/postgres/schemas.ts'
import { sqliteOnDisk } from '../../stores/sqlite/on-disk.ts'
import { rightsOn } from './suite.ts'

// What no store is to blame for is found on this one, with less work. The first programmes are those of rights.slow.test.ts.
rightsOn('SQLite', sqliteOnDisk, { requests: 2, lists: 1, after: 10_000 })

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)
  const database = async () => {
    const address = addressOf(url, fresh())
    return () => storeAt(address)
  }
  rightsOn('PostgreSQL', database, { requests: 1, lists: 1 })
})

await withService('mongo', ({ url }) => {
  const fresh = freshDatabases(url)
  const opening = async () => {
    const database = fresh()
    return () => mongoStore({ url, database })
  }
  rightsOn('MongoDB', opening, { requests: 1, lists: 1 })
})
