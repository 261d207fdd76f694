import { afterAll } from 'vitest'
import { newFile } from '../../contract/store/file.ts'
import { startLibsql } from '../../services/libsql.ts'
import { withService } from '../../services/shared.ts'
import { freshSchemas } from '../../stores/postgres/schemas.ts'
import { inTwoProcesses } from './suite.ts'

inTwoProcesses('SQLite', () => ({ path: newFile() }))

const server = await startLibsql('a token')
afterAll(() => server.stop())
inTwoProcesses('libSQL', () => ({ libsql: server.url }))

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)
  inTwoProcesses('PostgreSQL', () => ({ url, schema: fresh() }))
})

await withService('mongo', ({ url }) => {
  // Dropping the database would wait for the transactions of the killed processes, a minute.
  inTwoProcesses('MongoDB', () => ({ url, database: `atomic-${crypto.randomUUID()}` }))
})
