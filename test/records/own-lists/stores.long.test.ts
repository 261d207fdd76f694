import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { d1Store } from '../../../adapters/stores/sqlite/calls/d1.ts'
import { libsqlStore } from '../../../adapters/stores/sqlite/calls/libsql.ts'
import { withService } from '../../services/shared.ts'
import { freshD1 } from '../../stores/d1/databases.ts'
import { freshDatabases } from '../../stores/mongodb/databases.ts'
import { freshSchemas } from '../../stores/postgres/schemas.ts'
import { ownLists } from './suite.ts'

ownLists('libSQL', () => libsqlStore({ url: ':memory:' }))

const d1 = await freshD1(6)
ownLists('D1', () => d1Store(d1()))

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)
  ownLists('PostgreSQL', () => postgresStore({ url, schema: fresh() }))
})

await withService('mongo', ({ url }) => {
  const fresh = freshDatabases(url)
  ownLists('MongoDB', () => mongoStore({ url, database: fresh() }))
})
