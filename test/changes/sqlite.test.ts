import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { changes } from './changes.ts'
import { meanwhile } from './meanwhile.ts'
import type { Database } from './served.ts'

const database: Database = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'fieldgate-changes-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return () => sqliteStore({ path: join(folder, 'app.db') })
}

changes('SQLite', database)
meanwhile('SQLite', database)
