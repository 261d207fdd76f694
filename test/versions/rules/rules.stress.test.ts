import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { withService } from '../../services/shared.ts'
import { freshDatabases } from '../../stores/mongodb/databases.ts'
import { addressOf, storeAt } from '../../stores/postgres/address.ts'
import { freshSchemas } from '../../stores/postgres/schemas.ts'
import { sqliteOnDisk } from '../../stores/sqlite/on-disk.ts'
import { rulesOfVersions } from './suite.ts'

// What no store is to blame for is found on this one, with less work.
rulesOfVersions('SQLite', sqliteOnDisk, 10)

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)
  const database = async () => {
    const address = addressOf(url, fresh())
    return () => storeAt(address)
  }
  rulesOfVersions('PostgreSQL', database, 4)
})

await withService('mongo', ({ url }) => {
  const fresh = freshDatabases(url)
  const database = async () => {
    const name = fresh()
    return () => mongoStore({ url, database: name })
  }
  rulesOfVersions('MongoDB', database, 4)
})
