import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { withService } from '../../services/shared.ts'
import { freshDatabases } from '../../stores/mongodb/databases.ts'
import { declaredOnly } from './suite.ts'

await withService('mongo', ({ url }) => {
  const fresh = freshDatabases(url)
  declaredOnly('MongoDB', async () => {
    const database = fresh()
    return () => mongoStore({ url, database })
  })
})
