import { worker } from '../../../adapters/runtimes/workers.ts'
import { libsqlStore } from '../../../adapters/stores/sqlite/calls/libsql.ts'
import { atlas } from '../../../examples/atlas/app.ts'
import { withExtras } from './extras.ts'

const silent = { debug() {}, info() {}, warn() {}, error: console.error }

export default worker<{ readonly STORE: string; readonly TOKEN: string }>((env) =>
  withExtras(
    atlas({
      store: libsqlStore({ url: env.STORE, authToken: env.TOKEN }),
      logger: silent,
      secret: 'a secret for tests, 32 characters or more',
      bodyTimeoutMs: 5000,
    }),
  ),
)
