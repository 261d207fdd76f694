import { d1Store } from '../../adapters/stores/sqlite/calls/d1.ts'
import { freshD1 } from '../stores/d1/databases.ts'
import { batches } from './suite.ts'

const fresh = await freshD1(2)

batches(
  'D1',
  (count) => {
    const binding = fresh()
    return Array.from({ length: count }, () => d1Store(binding))
  },
  { batches: 25, writers: 3, moves: 2 },
)
