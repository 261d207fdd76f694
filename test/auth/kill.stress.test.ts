import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { runs } from '../runs.ts'
import { killWriters } from './kill.ts'

const KILLS = runs(4)

it('after kill -9 every change of an account is there whole or not at all', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'fieldgate-kill-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const opener = new URL('stores/sqlite.ts', import.meta.url)
  const { broken, changes } = await killWriters(KILLS, opener, join(folder, 'accounts.db'))
  expect(broken).toEqual([])
  expect(changes).toBeGreaterThan(2 * KILLS)
}, 300_000)
