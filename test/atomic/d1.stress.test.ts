import { d1Store } from '../../adapters/stores/sqlite/calls/d1.ts'
import { freshD1 } from '../stores/d1/databases.ts'
import { atomicSteps } from './suite.ts'

const fresh = await freshD1(4)

atomicSteps(
  'D1',
  (count) => {
    const binding = fresh()
    return Array.from({ length: count }, () => d1Store(binding))
  },
  { rounds: 4 },
)
