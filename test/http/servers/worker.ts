import { worker } from '../../../adapters/runtimes/workers.ts'
import { type D1Binding, d1Store } from '../../../adapters/stores/sqlite/calls/d1.ts'
import { atlas } from '../../../examples/atlas/app.ts'
import { withExtras } from './extras.ts'

const silent = { debug() {}, info() {}, warn() {}, error: console.error }

export default worker<{ readonly DB: D1Binding }>((env) =>
  withExtras(
    atlas({
      store: d1Store(env.DB),
      logger: silent,
      secret: 'a secret for tests, 32 characters or more',
      bodyTimeoutMs: 5000,
    }),
  ),
)
