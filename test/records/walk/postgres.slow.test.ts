import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { withService } from '../../services/shared.ts'
import { freshSchemas } from '../../stores/postgres/schemas.ts'
import { walks } from './walk.ts'

await withService('postgres', ({ url }) => {
  const schema = freshSchemas(url)()
  walks('PostgreSQL', { open: () => postgresStore({ url, schema }), walks: 30 })
})
