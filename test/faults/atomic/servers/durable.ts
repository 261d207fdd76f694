import { appObject } from '../../../../adapters/runtimes/workers.ts'
import { durableStore } from '../../../../adapters/stores/sqlite/calls/durable-sqlite.ts'
import { racesOn } from '../races.ts'

export const Api = appObject<{ readonly API: unknown }>((_, { storage }) =>
  racesOn(durableStore(storage)),
)

export default Api.worker({ binding: 'API' })
