import { afterAll } from 'vitest'
import { newFile } from '../../contract/store/file.ts'
import { gateTo } from '../../services/gate.ts'
import { startLibsql } from '../../services/libsql.ts'
import { withService } from '../../services/shared.ts'
import { freshSchemas } from '../../stores/postgres/schemas.ts'
import { historiesOfProcesses } from './processes.ts'

historiesOfProcesses('SQLite', () => ({ path: newFile() }))

await withService('valkey', ({ url }) => {
  const nothing = async () => {}
  historiesOfProcesses('SQLite with a cache', () => ({ path: newFile() }), nothing, url)
})

const server = await startLibsql('a token')
afterAll(() => server.stop())
historiesOfProcesses('libSQL', () => ({ libsql: server.url }))

await withService('postgres', async ({ url }) => {
  const fresh = freshSchemas(url)
  const gate = await gateTo(url)
  const gated = new URL(url)
  gated.port = String(gate.port)
  historiesOfProcesses(
    'PostgreSQL',
    () => ({ url: gated.href, schema: fresh() }),
    async () => {
      await gate.shut()
      await gate.open()
    },
  )
})

await withService('mongo', ({ url }) => {
  // Dropping the database would wait for the transactions of the killed processes, a minute.
  historiesOfProcesses('MongoDB', () => ({ url, database: `histories-${crypto.randomUUID()}` }))
})
