import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { checks } from './check.ts'

checks('SQLite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'fieldgate-check-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return sqliteStore({ path: join(folder, 'app.db') })
})
