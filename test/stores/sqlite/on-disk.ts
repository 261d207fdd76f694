/**
 * Empty SQLite databases in files, which several stores can open.
 *
 * @module
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import type { Database } from '../../changes/served.ts'
import { databases } from '../../services/memory.ts'

export const sqliteOnDisk: Database = async () => {
  const folder = await mkdtemp(join(databases(), 'fieldgate-sqlite-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return () => sqliteStore({ path: join(folder, 'app.db') })
}
