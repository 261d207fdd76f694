/** What records promise on any store, on D1: databases of one workerd. */

import { d1Store } from '../../adapters/stores/sqlite/d1.ts'
import { freshD1 } from '../stores/d1/databases.ts'
import { dates } from './dates/suite.ts'
import { declaredOnly } from './declared/suite.ts'
import { hooks } from './hooks/suite.ts'
import { nulls } from './parts/nulls.ts'
import { objects } from './parts/objects.ts'
import { references } from './references/suite.ts'

const fresh = await freshD1(200)
const open = () => d1Store(fresh())

/** Several stores on a database that no other test has had. */
function shared() {
  const binding = fresh()
  return () => d1Store(binding)
}

dates('D1', open, 3)
declaredOnly('D1', async () => shared())
hooks('D1', () => {
  const store = shared()
  return [store(), store()]
})
nulls('D1', open)
objects('D1', () => ({ store: shared() }))
references('D1', open)
