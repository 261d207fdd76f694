import { expect, it } from 'vitest'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { wrongIn } from './scenarios.ts'

// All of them, with more kinds, are in sqlite.stress.test.ts.
it('what is acknowledged is there, and what is refused can be repeated, whichever call fails', async () => {
  const kinds = ['refused', 'lost', 'gone', 'down', 'cut'] as const
  expect(await wrongIn({ open: () => sqliteStore() }, { kinds, every: 40 })).toEqual([])
}, 60_000)
