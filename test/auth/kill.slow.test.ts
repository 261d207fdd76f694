import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { killWriters } from './kill.ts'

it('after kill -9 every change of an account is there whole or not at all', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'fieldgate-kill-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const opener = new URL('stores/sqlite.ts', import.meta.url)
  const { broken, changes } = await killWriters(8, opener, join(folder, 'accounts.db'))
  expect(broken).toEqual([])
  expect(changes).toBeGreaterThan(20)
}, 300_000)
