import { describe, it } from 'vitest'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { verify } from '../../../extras/contract/index.ts'
import { withService } from '../../services/shared.ts'
import { freshSchemas } from '../../stores/postgres/schemas.ts'
import { contractInShort } from './in-short.ts'

const without = {
  'members of objects keep their order': 'jsonb has an order of its own for them',
}

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)
  verify(
    'PostgreSQL',
    contractInShort,
    {
      open: () => postgresStore({ url, schema: fresh() }),
      close: (store) => store.close(),
      without,
    },
    { describe, it },
  )
})
