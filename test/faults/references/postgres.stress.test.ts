import { withService } from '../../services/shared.ts'
import { freshSchemas } from '../../stores/postgres/schemas.ts'
import { references } from './suite.ts'

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)
  references('PostgreSQL', () => ({ url, schema: fresh() }))
})
