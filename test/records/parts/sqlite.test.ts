import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { nulls } from './nulls.ts'
import { objects } from './objects.ts'

nulls('SQLite', () => sqliteStore())

objects('SQLite', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parts-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return { store: () => sqliteStore({ path: join(folder, 'parts.db') }) }
})
