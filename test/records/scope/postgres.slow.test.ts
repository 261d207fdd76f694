import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { withService } from '../../services/shared.ts'
import { freshSchemas } from '../../stores/postgres/schemas.ts'
import { randomScopes } from './random.ts'

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)
  randomScopes('PostgreSQL', { open: () => postgresStore({ url, schema: fresh() }), cases: 120 })
})
