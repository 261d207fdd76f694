/** What records promise on any store, on PostgreSQL. */

import { postgresStore } from '../../adapters/stores/postgres/index.ts'
import { withService } from '../services/shared.ts'
import { freshSchemas } from '../stores/postgres/schemas.ts'
import { clashes } from './clashes/clashes.ts'
import { dates } from './dates/suite.ts'
import { declaredOnly } from './declared/suite.ts'
import { hooks } from './hooks/suite.ts'
import { nulls } from './parts/nulls.ts'
import { objects } from './parts/objects.ts'
import { readers } from './readers/suite.ts'
import { unknownNames } from './reads/names.ts'
import { references } from './references/suite.ts'
import { randomScopes } from './scope/random.ts'
import { walks } from './walk/walk.ts'

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)
  const open = () => postgresStore({ url, schema: fresh() })

  /** Several stores in a schema that no other test has had. */
  const shared = () => {
    const schema = fresh()
    return () => postgresStore({ url, schema })
  }

  clashes('PostgreSQL', open)
  dates('PostgreSQL', open, 3)
  declaredOnly('PostgreSQL', async () => shared())
  hooks('PostgreSQL', () => {
    const store = shared()
    return [store(), store()]
  })
  nulls('PostgreSQL', open)
  objects('PostgreSQL', () => ({ store: shared() }))
  readers('PostgreSQL', open, 4)
  unknownNames('PostgreSQL', shared())
  references('PostgreSQL', open)
  randomScopes('PostgreSQL', { open, cases: 24 })
  walks('PostgreSQL', { open, walks: 10 })
})
