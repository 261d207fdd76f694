import { withService } from '../services/shared.ts'
import { addressOf, storeAt } from '../stores/postgres/address.ts'
import { freshSchemas } from '../stores/postgres/schemas.ts'
import { changes } from './changes.ts'
import { meanwhile } from './meanwhile.ts'
import type { Database } from './served.ts'

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)
  const database: Database = async () => {
    const address = addressOf(url, fresh())
    return () => storeAt(address)
  }

  changes('PostgreSQL', database)
  meanwhile('PostgreSQL', database)
})
