import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { withService } from '../../services/shared.ts'
import { freshSchemas } from '../../stores/postgres/schemas.ts'
import { readers } from './suite.ts'

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)
  readers('PostgreSQL', () => postgresStore({ url, schema: fresh() }), 10)
})
