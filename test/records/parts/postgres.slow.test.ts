import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { withService } from '../../services/shared.ts'
import { freshSchemas } from '../../stores/postgres/schemas.ts'
import { nulls } from './nulls.ts'
import { objects } from './objects.ts'

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)
  nulls('PostgreSQL', () => postgresStore({ url, schema: fresh() }))
  objects('PostgreSQL', () => {
    const schema = fresh()
    return { store: () => postgresStore({ url, schema }) }
  })
})
