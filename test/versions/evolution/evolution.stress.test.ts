import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { withService } from '../../services/shared.ts'
import { freshDatabases } from '../../stores/mongodb/databases.ts'
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
  const fresh = freshDatabases(url)
  const opening = async () => {
    const database = fresh()
    return () => mongoStore({ url, database })
  }
  evolutions('MongoDB', opening, 10, { hasColumns: false })
})
