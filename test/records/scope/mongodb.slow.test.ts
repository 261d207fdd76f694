import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { withService } from '../../services/shared.ts'
import { freshDatabases } from '../../stores/mongodb/databases.ts'
import { randomScopes } from './random.ts'

await withService('mongo', ({ url }) => {
  const fresh = freshDatabases(url)
  const database = fresh()
  randomScopes('MongoDB', { open: () => mongoStore({ url, database }), cases: 120 })
})
