import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { hooks } from './suite.ts'

const folder = mkdtempSync(join(tmpdir(), 'hooks-'))
afterAll(() => rmSync(folder, { recursive: true }))

hooks('SQLite', () => {
  const path = join(folder, `${crypto.randomUUID()}.db`)
  return [sqliteStore({ path }), sqliteStore({ path })]
})
