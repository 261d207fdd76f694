import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { withService } from '../../services/shared.ts'
import { freshDatabases } from '../../stores/mongodb/databases.ts'
import { hooks } from './suite.ts'

await withService('mongo', ({ url }) => {
  const fresh = freshDatabases(url)
  hooks('MongoDB', () => {
    const database = fresh()
    return [mongoStore({ url, database }), mongoStore({ url, database })]
  })
})
