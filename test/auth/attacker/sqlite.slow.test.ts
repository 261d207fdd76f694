import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { seeds } from '../../runs.ts'
import { attack } from './programme.ts'

it.each(seeds(3))(
  'nothing that an attacker was ever shown opens what is not theirs (%i)',
  { timeout: 300_000 },
  async (seed) => {
    const folder = await mkdtemp(join(tmpdir(), 'attacker-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const open = () => sqliteStore({ path: join(folder, 'accounts.db') })
    expect(await attack(open, seed)).toBeUndefined()
  },
)
