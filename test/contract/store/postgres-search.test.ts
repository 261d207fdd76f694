import { it } from 'vitest'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { people } from '../../../extras/contract/store/people.ts'
import { Random } from '../../../extras/contract/store/random.ts'
import { seeds } from '../../runs.ts'
import { withService } from '../../services/shared.ts'
import { freshSchemas } from '../../stores/postgres/schemas.ts'
import { searchAmongWrites } from './searches.ts'

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)

  it.each(seeds(1))(
    'search on PostgreSQL finds what a look at every record finds (seed %i)',
    async (seed) => {
      const store = postgresStore({ url, schema: fresh() })
      await store.prepare([people])
      await searchAmongWrites(new Random(seed), store.collection(people), 500)
      await store.close()
    },
  )
})
