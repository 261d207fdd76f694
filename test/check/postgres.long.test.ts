import { postgresStore } from '../../adapters/stores/postgres/index.ts'
import { withService } from '../services/shared.ts'
import { freshSchemas } from '../stores/postgres/schemas.ts'
import { checks } from './check.ts'

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)
  checks('PostgreSQL', async () => postgresStore({ url, schema: fresh() }))
})
