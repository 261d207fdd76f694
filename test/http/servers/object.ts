import { appObject } from '../../../adapters/runtimes/workers.ts'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { atlas } from '../../../examples/atlas/app.ts'
import { withExtras } from './extras.ts'

interface Env {
  readonly API: unknown
  /** The address of a MongoDB. */
  readonly STORE?: string
  readonly HYPERDRIVE: { readonly connectionString: string }
  readonly SCHEMA: string
}

const silent = { debug() {}, info() {}, warn() {}, error: console.error }

/** The Durable Object that holds the sockets to MongoDB or PostgreSQL. */
export const Api = appObject<Env>((env) =>
  withExtras(
    atlas({
      store: env.STORE
        ? mongoStore({ url: env.STORE })
        : postgresStore({ url: env.HYPERDRIVE.connectionString, schema: env.SCHEMA }),
      logger: silent,
      secret: 'a secret for tests, 32 characters or more',
      bodyTimeoutMs: 5000,
    }),
  ),
)

export default Api.worker({ binding: 'API', instances: 2 })
