import { postgresStore } from '../../adapters/stores/postgres/index.ts'
import { withService } from '../services/shared.ts'
import { freshSchemas } from '../stores/postgres/schemas.ts'
import { atomicSteps } from './suite.ts'

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)
  atomicSteps(
    'PostgreSQL',
    (count) => {
      const schema = fresh()
      return Array.from({ length: count }, () => postgresStore({ url, schema }))
    },
    { rounds: 8 },
  )
})
