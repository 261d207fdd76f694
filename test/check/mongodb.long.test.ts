import { MongoClient } from 'mongodb'
import { expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { mongoStore } from '../../adapters/stores/mongodb/index.ts'
import { defineModel } from '../../src/index.ts'
import { checkRecords } from '../../src/upkeep/check/check.ts'
import { withService } from '../services/shared.ts'
import { checks } from './check.ts'

await withService('mongo', ({ url }) => {
  const open = async () => {
    const database = `check-${crypto.randomUUID()}`
    onTestFinished(async () => {
      const client = await MongoClient.connect(url)
      await client.db(database).dropDatabase()
      await client.close()
    })
    return mongoStore({ url, database })
  }
  // `fieldgate doctor` tells of the others.
  checks('MongoDB', open, { walksAll: false })

  it('a walk over records of MongoDB passes ids of other types, of which another program may have stored many', async () => {
    const client = await MongoClient.connect(url)
    const database = `check-${crypto.randomUUID()}`
    onTestFinished(async () => {
      await client.db(database).dropDatabase()
      await client.close()
    })
    const Walked = defineModel('Walked', { fields: { n: z.number() } })
    const native = client.db(database).collection('walkeds')
    await native.insertMany(
      Array.from({ length: 1500 }, (_, at) => ({ _id: `${at}` as never, n: 1 })),
    )
    await native.insertMany(Array.from({ length: 1500 }, () => ({ n: 'one' })))
    const store = mongoStore({ client, database })
    const { problems } = await checkRecords(store, [Walked as never])
    expect(problems).toMatchObject([{ problem: 'type', field: 'n', count: 1500 }])
  })
})
