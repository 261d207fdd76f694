import { type Db, type MongoClient, MongoServerError } from 'mongodb'
import { expect, it } from 'vitest'
import { watchWrites } from '../../../adapters/stores/mongodb/copying/watch.ts'

it('a copy does without a change stream where Atlas refuses one, as its Flex clusters do', async () => {
  const refused = new MongoServerError({
    code: 8000,
    codeName: 'AtlasError',
    message: '$changeStream is not allowed or the syntax is incorrect, see the Atlas documentation',
  })
  const stream = { tryNext: () => Promise.reject(refused) }
  const client = { startSession: () => ({ endSession: async () => {} }) }
  const database = { watch: () => stream }
  const watch = watchWrites(client as unknown as MongoClient, database as unknown as Db, ['cities'])
  expect(await watch).toBeUndefined()
})
