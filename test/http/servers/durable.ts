import { appObject } from '../../../adapters/runtimes/workers.ts'
import { durableStore } from '../../../adapters/stores/sqlite/calls/durable-sqlite.ts'
import { atlas } from '../../../examples/atlas/app.ts'
import { withExtras } from './extras.ts'

const silent = { debug() {}, info() {}, warn() {}, error: console.error }

/** The Durable Object in which the records are. */
export const Api = appObject<{ readonly API: unknown }>((_, { storage }) =>
  withExtras(
    atlas({
      store: durableStore(storage),
      logger: silent,
      secret: 'a secret for tests, 32 characters or more',
      bodyTimeoutMs: 5000,
    }),
  ),
)

export default Api.worker({ binding: 'API' })
