import { describe, it } from 'vitest'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { verify } from '../../../extras/contract/index.ts'
import { storePromises } from '../../../extras/contract/store/contract.ts'
import { withService } from '../../services/shared.ts'
import { freshSchemas } from '../../stores/postgres/schemas.ts'

const without = {
  'members of objects keep their order': 'jsonb has an order of its own for them',
}

await withService('pgbouncer', ({ url }) => {
  const fresh = freshSchemas(url)
  verify(
    'PostgreSQL behind PgBouncer in transaction mode',
    storePromises,
    {
      open: () => postgresStore({ url, schema: fresh(), prepare: false }),
      close: (store) => store.close(),
      without,
    },
    { describe, it },
  )
})
