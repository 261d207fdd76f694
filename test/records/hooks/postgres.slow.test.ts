import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { withService } from '../../services/shared.ts'
import { freshSchemas } from '../../stores/postgres/schemas.ts'
import { hooks } from './suite.ts'

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)
  hooks('PostgreSQL', () => {
    const schema = fresh()
    return [postgresStore({ url, schema }), postgresStore({ url, schema })]
  })
})
