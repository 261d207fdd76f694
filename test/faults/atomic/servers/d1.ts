import { worker } from '../../../../adapters/runtimes/workers.ts'
import { type D1Binding, d1Store } from '../../../../adapters/stores/sqlite/calls/d1.ts'
import { racesOn } from '../races.ts'

export default worker<{ readonly DB: D1Binding }>(({ DB }) => racesOn(d1Store(DB)))
