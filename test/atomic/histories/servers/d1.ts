import { worker } from '../../../../adapters/runtimes/workers.ts'
import { type D1Binding, d1Store } from '../../../../adapters/stores/sqlite/calls/d1.ts'
import { worldOn } from '../world.ts'

export default worker<{ readonly DB: D1Binding }>(({ DB }) => worldOn(d1Store(DB)))
