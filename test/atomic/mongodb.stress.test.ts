import { mongoStore } from '../../adapters/stores/mongodb/index.ts'
import { withService } from '../services/shared.ts'
import { freshDatabases } from '../stores/mongodb/databases.ts'
import { atomicSteps } from './suite.ts'

await withService('mongo', ({ url }) => {
  const fresh = freshDatabases(url)
  atomicSteps(
    'MongoDB',
    (count) => {
      const database = fresh()
      return Array.from({ length: count }, () => mongoStore({ url, database }))
    },
    { rounds: 8 },
  )
})
