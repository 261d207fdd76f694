import { MongoClient } from 'mongodb'
import { expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { mongoStore } from '../../adapters/stores/mongodb/index.ts'
import { createApp, defineModel, ref } from '../../src/index.ts'
import { hostOf } from '../../src/records/engine/host.ts'
import { backfillRecords } from '../../src/upkeep/changes/backfill.ts'
import { checkRecords } from '../../src/upkeep/check/check.ts'
import { withService } from '../services/shared.ts'
import { freshDatabases } from '../stores/mongodb/databases.ts'
import { checks } from './check.ts'

await withService('mongo', ({ url }) => {
  const fresh = freshDatabases(url)
  const open = async () => mongoStore({ url, database: fresh() })
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

  it('a check and a backfill tell of strings that are references now, which no filter finds', async () => {
    const store = await open()
    const options = { collection: 'orders' }
    const fields = { customer: z.string(), items: z.array(z.object({ product: z.string() })) }
    const Old = defineModel('Old', { ...options, fields })
    const [customer, product] = ['6b08c992d26ffaeac3c5fd93', '6b08c992d26ffaeac3c5fd94']
    const before = createApp({ store: { ...store, close: async () => {} }, env: {} })
    const orders = before.store.collection(Old)
    for (const items of [[], [{ product }, { product }]]) await orders.insert({ customer, items })
    const Order = defineModel('Order', {
      ...options,
      fields: { customer: ref('Customer'), items: z.array(z.object({ product: ref('Product') })) },
    })
    const found = [
      { model: 'Order', problem: 'unmatched', field: 'customer', count: 2 },
      { model: 'Order', problem: 'unmatched', field: 'items.product', count: 1 },
    ]
    expect(await checkRecords(store, [Order as never])).toMatchObject({
      ok: false,
      problems: found,
    })
    expect(await checkRecords(store, [Old as never])).toMatchObject({ ok: true })
    const app = createApp({ store, env: {} })
    const { stored, history, database, schemas } = hostOf(app.store)
    const target = { models: [Order as never], stored, history, database, schemas }
    expect(await backfillRecords(target)).toMatchObject({ ok: false, problems: found })
    await app.close()
  })
})
