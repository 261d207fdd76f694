import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { withService } from '../../services/shared.ts'
import { freshSchemas } from '../../stores/postgres/schemas.ts'
import { references } from './suite.ts'

await withService('pgbouncer', ({ url }) => {
  const fresh = freshSchemas(url)
  references('PostgreSQL behind PgBouncer in transaction mode', () =>
    postgresStore({ url, schema: fresh(), prepare: false }),
  )
})
