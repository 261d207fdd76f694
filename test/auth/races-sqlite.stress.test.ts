import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { processOn } from './peers.ts'
import { races } from './races.ts'

const folder = await mkdtemp(join(tmpdir(), 'fieldgate-auth-'))
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))

const opener = new URL('stores/sqlite.ts', import.meta.url)
races('two processes on SQLite', processOn(opener, join(folder, 'processes.db')))
