import { Decimal128, MongoClient, ObjectId } from 'mongodb'
import { expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { createRouter, defineModel } from '../../../src/index.ts'
import { withService } from '../../services/shared.ts'
import { freshDatabases } from '../../stores/mongodb/databases.ts'
import { service } from '../service.ts'
import { nulls } from './nulls.ts'
import { objects } from './objects.ts'

await withService('mongo', ({ url }) => {
  const fresh = freshDatabases(url)
  const open = () => {
    const database = fresh()
    return { store: () => mongoStore({ url, database }) }
  }

  nulls('MongoDB', () => open().store())
  objects('MongoDB', open)

  it('MongoDB: a PATCH of an object leaves the BSON types of what no model declares', async () => {
    const database = fresh()
    const client = new MongoClient(url)
    onTestFinished(() => client.close())
    const native = client.db(database).collection('bsonowners')
    const home = { city: 'a', by: new ObjectId(), sum: Decimal128.fromString('1.50'), in: { n: 1 } }
    const { insertedId } = await native.insertOne({ home: { ...home, at: { x: 1, by: home.by } } })
    const Owner = defineModel('BsonOwner', {
      fields: { home: z.object({ city: z.string(), at: z.object({ x: z.number() }) }) },
    })
    const { app, send } = service({ store: mongoStore({ url, database }) })
    app.mount('/owners', createRouter({ model: Owner, allowedFields: ['home'] }))
    const json = { home: { city: 'b', at: { x: 2 } } }
    expect((await send('PATCH', `/owners/${insertedId}`, { json })).status).toBe(200)
    const after = await native.findOne({ _id: insertedId })
    expect(after?.home).toEqual({ ...home, city: 'b', at: { x: 2, by: home.by } })
    expect(after?.home.by).toBeInstanceOf(ObjectId)
    expect(after?.home.sum).toBeInstanceOf(Decimal128)
  })
})
