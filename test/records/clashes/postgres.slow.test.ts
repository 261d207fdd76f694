import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { withService } from '../../services/shared.ts'
import { freshSchemas } from '../../stores/postgres/schemas.ts'
import { clashes } from './clashes.ts'

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)
  clashes('PostgreSQL', () => postgresStore({ url, schema: fresh() }))
})
