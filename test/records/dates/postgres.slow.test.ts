import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { withService } from '../../services/shared.ts'
import { freshSchemas } from '../../stores/postgres/schemas.ts'
import { dates } from './suite.ts'

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)
  dates('PostgreSQL', () => postgresStore({ url, schema: fresh() }))
})
