import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { withService } from '../../services/shared.ts'
import { freshSchemas } from '../../stores/postgres/schemas.ts'
import { declaredOnly } from './suite.ts'

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)
  declaredOnly('PostgreSQL', async () => {
    const schema = fresh()
    return () => postgresStore({ url, schema })
  })
})
