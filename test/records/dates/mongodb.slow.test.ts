import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { withService } from '../../services/shared.ts'
import { freshDatabases } from '../../stores/mongodb/databases.ts'
import { dates } from './suite.ts'

await withService('mongo', ({ url }) => {
  const fresh = freshDatabases(url)
  dates('MongoDB', () => mongoStore({ url, database: fresh() }))
})
