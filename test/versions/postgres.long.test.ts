import { withService } from '../services/shared.ts'
import { addressOf, storeAt } from '../stores/postgres/address.ts'
import { freshSchemas } from '../stores/postgres/schemas.ts'
import { versions } from './suite.ts'

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)

  versions(
    'PostgreSQL',
    async () => {
      const address = addressOf(url, fresh())
      return () => storeAt(address)
    },
    { indexesSearches: true },
  )
})
