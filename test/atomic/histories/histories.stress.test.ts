import { setTimeout as delay } from 'node:timers/promises'
import { afterAll } from 'vitest'
import { newFile } from '../../contract/store/file.ts'
import { gateTo } from '../../services/gate.ts'
import { startLibsql } from '../../services/libsql.ts'
import { withService } from '../../services/shared.ts'
import { freshSchemas } from '../../stores/postgres/schemas.ts'
import { historiesOfProcesses } from './processes.ts'

historiesOfProcesses('SQLite', { place: () => ({ path: newFile() }) })

historiesOfProcesses('SQLite, served by three processes', {
  place: () => ({ path: newFile() }),
  cache: 'memory',
  processes: 3,
})

await withService('valkey', ({ url }) => {
  historiesOfProcesses('SQLite with a cache', { place: () => ({ path: newFile() }), cache: url })
})

const server = await startLibsql('a token')
afterAll(() => server.stop())
historiesOfProcesses('libSQL', { place: () => ({ libsql: server.url }) })

await withService('postgres', async ({ url }) => {
  const fresh = freshSchemas(url)
  const { gated, disturb } = await behindGate(url)
  historiesOfProcesses('PostgreSQL', { place: () => ({ url: gated, schema: fresh() }), disturb })
})

await withService('mongo', async ({ url }) => {
  const { gated, disturb } = await behindGate(url)
  // Dropping the database would wait for the transactions of the killed processes, a minute.
  const fresh = () => `histories-${crypto.randomUUID()}`
  historiesOfProcesses('MongoDB', { place: () => ({ url: gated, database: fresh() }), disturb })
})

/** The database behind a gate, which at times cuts a reply, ends every connection or lets nothing through. */
async function behindGate(url: string) {
  const gate = await gateTo(url)
  const gated = new URL(url)
  gated.port = String(gate.port)
  if (gated.protocol === 'mongodb:') gated.searchParams.set('directConnection', 'true')
  const ways = [() => gate.shut(), () => gate.spoil('reset'), () => gate.spoil('half')]
  let at = 0
  const disturb = async () => {
    await ways[at++ % ways.length]?.()
    await delay(Math.random() * 200)
    await gate.open()
  }
  return { gated: gated.href, disturb }
}
