import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { withService } from '../../services/shared.ts'
import { freshDatabases } from '../../stores/mongodb/databases.ts'
import { readers } from './suite.ts'

await withService('mongo', ({ url }) => {
  const fresh = freshDatabases(url)
  readers('MongoDB', () => mongoStore({ url, database: fresh() }), 10)
})
