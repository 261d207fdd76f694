import { mongoStore } from '../../adapters/stores/mongodb/index.ts'
import { postgresStore } from '../../adapters/stores/postgres/index.ts'
import { withService } from '../services/shared.ts'
import { freshSchemas } from '../stores/postgres/schemas.ts'
import { spellings } from './spellings.ts'

await withService('mongo', ({ url }) => {
  const place = new URL(url)
  place.pathname = `/spellings${process.pid}`
  spellings('MongoDB', () => mongoStore({ url: place.href }))
})

await withService('postgres', ({ url }) => {
  const schema = freshSchemas(url)()
  spellings('PostgreSQL', () => postgresStore({ url, schema }))
})
