import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { batches } from './suite.ts'

batches(
  'SQLite',
  (count) => {
    const folder = mkdtempSync(join(tmpdir(), 'fieldgate-batch-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    return Array.from({ length: count }, () => sqliteStore({ path: join(folder, 'batch.db') }))
  },
  { batches: 25, moves: 2 },
)
