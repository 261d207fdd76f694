import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { references } from './suite.ts'

references('SQLite', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fieldgate-references-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return { path: join(folder, 'world.db') }
})
