import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { d1Store } from '../../../adapters/stores/sqlite/calls/d1.ts'
import { libsqlStore } from '../../../adapters/stores/sqlite/calls/libsql.ts'
import { withService } from '../../services/shared.ts'
import { freshD1 } from '../../stores/d1/databases.ts'
import { freshDatabases } from '../../stores/mongodb/databases.ts'
import { freshSchemas } from '../../stores/postgres/schemas.ts'
import { sameRules } from './suite.ts'

// SQLite has the first three seeds.
sameRules('libSQL', () => libsqlStore({ url: ':memory:' }), [4])

const d1 = await freshD1(1)
sameRules('D1', () => d1Store(d1()), [5])

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)
  sameRules('PostgreSQL', () => postgresStore({ url, schema: fresh() }), [4])
})

await withService('mongo', ({ url }) => {
  const fresh = freshDatabases(url)
  sameRules('MongoDB', () => mongoStore({ url, database: fresh() }), [5])
})
