import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { withService } from '../../services/shared.ts'
import { freshDatabases } from '../../stores/mongodb/databases.ts'
import { clashes } from './clashes.ts'

await withService('mongo', ({ url }) => {
  const fresh = freshDatabases(url)
  clashes('MongoDB', () => mongoStore({ url, database: fresh() }))
})
