import { appObject } from '../../../adapters/runtimes/workers.ts'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { atlas } from '../../../examples/atlas/app.ts'
import { storeAt } from '../../stores/postgres/address.ts'
import { withExtras } from './extras.ts'

interface Env {
  readonly API: unknown
  readonly STORE: string
}

const silent = { debug() {}, info() {}, warn() {}, error: console.error }

/** The Durable Object that holds the sockets to MongoDB or PostgreSQL. */
export const Api = appObject<Env>((env) =>
  withExtras(
    atlas({
      store: env.STORE.startsWith('mongodb') ? mongoStore({ url: env.STORE }) : storeAt(env.STORE),
      logger: silent,
      secret: 'a secret for tests, 32 characters or more',
      bodyTimeoutMs: 2000,
    }),
  ),
)

export default Api.worker({ binding: 'API', instances: 2 })
