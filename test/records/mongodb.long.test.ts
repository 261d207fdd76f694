/** What records promise on any store, on MongoDB. */

import { Decimal128, MongoClient, ObjectId } from 'mongodb'
import { describe, expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { mongoStore } from '../../adapters/stores/mongodb/index.ts'
import { verify } from '../../extras/contract/verify.ts'
import { createRouter, defineModel } from '../../src/index.ts'
import { someWorkloads } from '../contract/store/in-short.ts'
import { withService } from '../services/shared.ts'
import { freshDatabases } from '../stores/mongodb/databases.ts'
import { clashes } from './clashes/clashes.ts'
import { dates } from './dates/suite.ts'
import { declaredOnly } from './declared/suite.ts'
import { hooks } from './hooks/suite.ts'
import { nulls } from './parts/nulls.ts'
import { objects } from './parts/objects.ts'
import { readers } from './readers/suite.ts'
import { unknownNames } from './reads/names.ts'
import { references } from './references/suite.ts'
import { mixedNames } from './renamed/mixed-names.ts'
import { randomScopes } from './scope/random.ts'
import { service } from './service.ts'
import { walks } from './walk/walk.ts'

await withService('mongo', ({ url }) => {
  const fresh = freshDatabases(url)
  const open = () => mongoStore({ url, database: fresh() })

  /** Several stores on a database that no other test has had. */
  const shared = () => {
    const database = fresh()
    return () => mongoStore({ url, database })
  }

  clashes('MongoDB', open)
  dates('MongoDB', open, 3)
  declaredOnly('MongoDB', async () => shared())
  hooks('MongoDB', () => {
    const store = shared()
    return [store(), store()]
  })
  nulls('MongoDB', open)
  objects('MongoDB', () => ({ store: shared() }))
  readers('MongoDB', open, 4)
  unknownNames('MongoDB', shared())
  references('MongoDB', open)
  randomScopes('MongoDB', { open, cases: 24 })
  walks('MongoDB', { open, walks: 10 })
  verify(
    'MongoDB, with half of the records under earlier names',
    someWorkloads(1),
    { open: () => mixedNames(open(), 1), close: (store) => store.close() },
    { describe, it },
  )

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

  it('MongoDB: a record whose id is an object leaves the list readable', async () => {
    const database = fresh()
    const client = new MongoClient(url)
    onTestFinished(() => client.close())
    const pairs = client.db(database).collection<{ _id: object }>('pairs')
    await pairs.insertOne({ _id: { a: 1 }, name: 'x' } as never)
    const Pair = defineModel('Pair', { fields: { name: z.string() } })
    const { app, send } = service({ store: mongoStore({ url, database }) })
    app.mount('/pairs', createRouter({ model: Pair, allowedFields: [] }))
    expect(await send('GET', '/pairs')).toMatchObject({
      status: 200,
      body: { data: [{ name: 'x' }] },
    })
  })
})
