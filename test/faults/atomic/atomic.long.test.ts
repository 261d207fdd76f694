import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, onTestFinished } from 'vitest'
import { startLibsql } from '../../services/libsql.ts'
import { withService } from '../../services/shared.ts'
import { freshSchemas } from '../../stores/postgres/schemas.ts'
import { inTwoProcesses } from './suite.ts'

inTwoProcesses('SQLite', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fieldgate-atomic-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return { path: join(folder, 'atomic.db') }
})

const server = await startLibsql('a token')
afterAll(() => server.stop())
inTwoProcesses('libSQL', () => {
  server.empty()
  return { libsql: server.url }
})

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)
  inTwoProcesses('PostgreSQL', () => ({ url, schema: fresh() }))
})

await withService('mongo', ({ url }) => {
  // Dropping the database would wait for the transactions of the killed processes, a minute.
  inTwoProcesses('MongoDB', () => ({ url, database: `atomic-${crypto.randomUUID()}` }))
})
