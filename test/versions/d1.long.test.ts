import { d1Store } from '../../adapters/stores/sqlite/calls/d1.ts'
import { freshD1 } from '../stores/d1/databases.ts'
import { versions } from './suite.ts'

const fresh = await freshD1(10)

versions(
  'D1',
  async () => {
    const binding = fresh()
    return () => d1Store(binding)
  },
  { indexesSearches: true, isSlow: true },
)
