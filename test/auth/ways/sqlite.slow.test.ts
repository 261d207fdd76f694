import { expect, it } from 'vitest'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { runs } from '../../runs.ts'
import { explore, explorePairs } from './sequences.ts'

// Among the pairs are those that find a takeover that leaves a provider, a passkey, a key or a link with an OpenID provider.
it.each([
  ['without', false, 801, 200],
  ['with', true, 100_101, 100],
] as const)(
  'once the owner has proven the mailbox nothing of the attacker opens the account, %s verification of addresses',
  { timeout: 300_000 },
  async (_, enabled, first, count) => {
    const seed = Number(process.env.SEED ?? first)
    const more = { emailVerification: { enabled } }
    expect(await explore(sqliteStore(), runs(count), seed, more)).toBeUndefined()
  },
)

it('once the owner has proven the mailbox nothing of the attacker opens the account, for pairs of ways in', {
  timeout: 300_000,
}, async () => {
  expect(await explorePairs(sqliteStore(), Math.ceil(20 / runs(1)))).toBeUndefined()
})
