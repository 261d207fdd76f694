import { appObject } from '../../../adapters/runtimes/workers.ts'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { atlas } from '../../../examples/atlas/app.ts'
import { withExtras } from './extras.ts'

interface Env {
  readonly API: unknown
  readonly MONGODB_URI: string
}

const silent = { debug() {}, info() {}, warn() {}, error: console.error }

/** The Durable Object that holds the sockets to MongoDB. */
export const Api = appObject<Env>((env) =>
  withExtras(
    atlas({
      store: mongoStore({ url: env.MONGODB_URI }),
      logger: silent,
      secret: 'a secret for tests, 32 characters or more',
      bodyTimeoutMs: 2000,
    }),
  ),
)

export default Api.worker({ binding: 'API', instances: 2 })
