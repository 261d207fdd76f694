import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { seeds } from '../../runs.ts'
import { withService } from '../../services/shared.ts'
import { freshDatabases } from '../../stores/mongodb/databases.ts'
import { addressOf, storeAt } from '../../stores/postgres/address.ts'
import { freshSchemas } from '../../stores/postgres/schemas.ts'
import { rulesOfVersions } from './suite.ts'

// What no store is to blame for needs no other: each programme runs on one of them.
const odd = seeds(6).filter((seed) => seed % 2 === 1)
const even = seeds(6).filter((seed) => seed % 2 === 0)

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)
  const database = async () => {
    const address = addressOf(url, fresh())
    return () => storeAt(address)
  }
  rulesOfVersions('PostgreSQL', database, odd)
})

await withService('mongo', ({ url }) => {
  const fresh = freshDatabases(url)
  const database = async () => {
    const name = fresh()
    return () => mongoStore({ url, database: name })
  }
  rulesOfVersions('MongoDB', database, even)
})
