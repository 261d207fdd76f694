/** What records promise on any store, on D1, where it may differ from SQLite. */

import { d1Store } from '../../adapters/stores/sqlite/calls/d1.ts'
import { freshD1 } from '../stores/d1/databases.ts'
import { declaredOnly } from './declared/suite.ts'
import { references } from './references/suite.ts'

const fresh = await freshD1(25)
const open = () => d1Store(fresh())

/** Several stores on a database that no other test has had. */
function shared() {
  const binding = fresh()
  return () => d1Store(binding)
}

declaredOnly('D1', async () => shared())
references('D1', open)
