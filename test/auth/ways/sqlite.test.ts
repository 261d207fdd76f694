import { expect, it } from 'vitest'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { explore } from './sequences.ts'

it('A1: once the owner has proven the mailbox nothing of the attacker opens the account', {
  timeout: 300_000,
}, async () => {
  const count = Number(process.env.SEQUENCES ?? 20_000)
  expect(await explore(sqliteStore(), count, Number(process.env.SEED ?? 1))).toBeUndefined()
})
