import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { rulesOfVersions } from './suite.ts'

const database = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'fieldgate-rules-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return () => sqliteStore({ path: join(folder, 'app.db') })
}

rulesOfVersions('SQLite', database, 3)
