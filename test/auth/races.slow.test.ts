import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { appOn } from './peers.ts'
import { races } from './races.ts'

const folder = await mkdtemp(join(tmpdir(), 'fieldgate-auth-'))
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))

races(
  'two apps on SQLite in one process',
  appOn(() => sqliteStore({ path: join(folder, 'apps.db') })),
)
