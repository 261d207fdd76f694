import { worker } from '../../../adapters/runtimes/workers.ts'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { atlas } from '../../../examples/atlas/app.ts'
import { withExtras } from './extras.ts'

interface Env {
  readonly HYPERDRIVE: { readonly connectionString: string }
  readonly SCHEMA: string
}

const silent = { debug() {}, info() {}, warn() {}, error: console.error }

export default worker<Env>(({ HYPERDRIVE, SCHEMA }) =>
  withExtras(
    atlas({
      store: postgresStore({
        url: HYPERDRIVE.connectionString,
        schema: SCHEMA,
        keepConnections: false,
      }),
      logger: silent,
      secret: 'a secret for tests, 32 characters or more',
      bodyTimeoutMs: 5000,
    }),
  ),
)
