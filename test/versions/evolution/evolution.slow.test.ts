import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { evolutions } from './suite.ts'

const database = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'fieldgate-evolution-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return () => sqliteStore({ path: join(folder, 'app.db') })
}

evolutions('SQLite', database, 3, { hasColumns: false })
