import { expect, it } from 'vitest'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { runs } from '../../runs.ts'
import { KINDS } from './faults.ts'
import { wrongIn } from './scenarios.ts'

const every = Math.max(1, Math.ceil(16 / runs(1)))

it.each(KINDS)(
  'what is acknowledged is there, and what is refused can be repeated, where calls are: %s',
  {
    timeout: 900_000,
  },
  async (kind) => {
    expect(await wrongIn({ open: () => sqliteStore() }, { kinds: [kind], every })).toEqual([])
  },
)
