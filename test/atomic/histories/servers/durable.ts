import { appObject } from '../../../../adapters/runtimes/workers.ts'
import { durableStore } from '../../../../adapters/stores/sqlite/calls/durable-sqlite.ts'
import { worldOn } from '../world.ts'

export const Api = appObject<{ readonly API: unknown }>((_, { storage }) =>
  worldOn(durableStore(storage)),
)

export default Api.worker({ binding: 'API' })
