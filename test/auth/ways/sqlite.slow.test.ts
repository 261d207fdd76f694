import { expect, it } from 'vitest'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { explore } from './sequences.ts'

const COUNT = Number(process.env.SEQUENCES ?? 10_000)

it.each([false, true])(
  'once the owner has proven the mailbox nothing of the attacker opens the account (email verification %s)',
  { timeout: 300_000 },
  async (enabled) => {
    const seed = Number(process.env.SEED ?? (enabled ? 100_001 : 1))
    const more = { emailVerification: { enabled } }
    expect(await explore(sqliteStore(), COUNT, seed, more)).toBeUndefined()
  },
)
