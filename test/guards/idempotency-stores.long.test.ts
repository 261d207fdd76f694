import { mongoStore } from '../../adapters/stores/mongodb/index.ts'
import { postgresStore } from '../../adapters/stores/postgres/index.ts'
import { d1Store } from '../../adapters/stores/sqlite/calls/d1.ts'
import { withService } from '../services/shared.ts'
import { freshD1 } from '../stores/d1/databases.ts'
import { freshSchemas } from '../stores/postgres/schemas.ts'
import { outcomes } from './outcomes.ts'

const d1 = await freshD1(16)
outcomes('D1', () => d1Store(d1()))

await withService('mongo', ({ url }) => {
  outcomes('MongoDB', () => mongoStore({ url, database: `keys-${crypto.randomUUID()}` }))
})

await withService('postgres', ({ url }) => {
  outcomes('PostgreSQL', () => postgresStore({ url, schema: freshSchemas(url)() }))
})
