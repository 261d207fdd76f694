import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { withService } from '../../services/shared.ts'
import { freshSchemas } from '../../stores/postgres/schemas.ts'
import { gate, served } from './gate.ts'

await withService('postgres', ({ url }) => {
  const schema = freshSchemas(url)()
  gate('PostgreSQL', () => served(postgresStore({ url, schema })))
})
