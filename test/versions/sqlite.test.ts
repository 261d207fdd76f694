import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import type { Database } from '../changes/served.ts'
import { versions } from './suite.ts'

const database: Database = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'fieldgate-versions-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return () => sqliteStore({ path: join(folder, 'app.db') })
}

versions('SQLite', database, { indexesSearches: true })
