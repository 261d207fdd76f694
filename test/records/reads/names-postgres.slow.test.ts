import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { withService } from '../../services/shared.ts'
import { freshSchemas } from '../../stores/postgres/schemas.ts'
import { unknownNames } from './names.ts'

await withService('postgres', ({ url }) => {
  const schema = freshSchemas(url)()
  unknownNames('PostgreSQL', () => postgresStore({ url, schema }))
})
