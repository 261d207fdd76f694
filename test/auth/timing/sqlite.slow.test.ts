import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { gate, served } from './gate.ts'

gate('SQLite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'fieldgate-timing-'))
  const opened = await served(sqliteStore({ path: join(folder, 'timing.db') }))
  const close = async () => {
    await opened.close()
    await rm(folder, { recursive: true, force: true })
  }
  return { ...opened, close }
})
