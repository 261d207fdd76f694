/**
 * Filters, sorts and unique values as MongoDB compares them.
 *
 * @module
 */

import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import type { Document } from 'mongodb'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { fromMongoose } from '../../extras/mongoose/index.ts'
import { createApp, createRouter } from '../../src/index.ts'
import { eachVersion, json, type Place } from './versions.ts'

eachVersion((place) => {
  describe('filters and sorts of what JSON has no type for', () => filters(place))
  describe('unique values with a collation', () => collations(place))
  describe('times that are no dates', () => times(place))
})

function filters({ mongoose, connection, app }: Place): void {
  const { Schema } = mongoose
  const { Decimal128, UUID } = Schema.Types
  const Item = connection.model(
    'Item',
    new Schema({
      n: Number,
      price: Decimal128,
      count: BigInt,
      key: UUID,
      bytes: Buffer,
      double: Schema.Types.Double,
    }),
  )
  const model = fromMongoose(Item).model
  const query = ['n', 'price', 'count', 'key', 'bytes', 'double']
  const api = app().mount('/items', createRouter({ model, query }))
  const keyOf = (n: number) => `0b5e0c1e-6a0a-4b1c-9d59-2f9f3b1f2a3${n}`
  before(async () => {
    await api.ready()
    await Item.create(
      [1, 2, 3].map((n) => ({
        n,
        price: `${n * 5}.10`,
        count: 9007199254740990n + BigInt(n),
        key: keyOf(n),
        bytes: Buffer.from([n]),
        double: n,
      })),
    )
  })
  const found = async (search: string): Promise<unknown> => {
    const { data, error } = await json(api, 'GET', `/items?${search}`)
    return data ? data.map(({ n }: { n: number }) => n) : error
  }

  it('compare as MongoDB compares the types, and not as strings', async () => {
    assert.deepEqual(await found('price=10.1'), [2])
    assert.deepEqual(await found('count=9007199254740993'), [3])
    assert.deepEqual(await found(`key=${keyOf(1).toUpperCase()}`), [1])
    assert.deepEqual(await found('bytes=Ag%3D%3D'), [2])
    assert.deepEqual(await found('double=3'), [3])
    const above = 'compareField=price&compareOperator=gt&compareValue=9&sort=-price'
    assert.deepEqual(await found(above), [3, 2])
    assert.deepEqual(await found('sort=price'), [1, 2, 3])
    assert.deepEqual(await found('sort=-count'), [3, 2, 1])
  })

  it('refuse a value that the type cannot be', async () => {
    for (const search of ['price=x', 'count=1.5', 'key=1', 'bytes=%21']) {
      assert.match(String(await found(search)), /Invalid value/, search)
    }
  })

  it('continue after a record by its cursor', async () => {
    const paged = createRouter({ model, pagination: 'cursor', orderBy: 'price' })
    const feed = app().mount('/feed', paged)
    const seen: number[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const found = await json(feed, 'GET', `/feed?pageSize=1&cursor=${encodeURIComponent(cursor)}`)
      seen.push(found.data[0].n)
      cursor = found.pagination.nextCursor
    }
    assert.deepEqual(seen, [1, 2, 3])
  })

  it('are kept as JSON by other stores', async () => {
    const store = sqliteStore({ path: ':memory:' })
    const other = createApp({ store }).mount('/items', createRouter({ model, query: ['count'] }))
    const sent = {
      price: '9.90',
      count: '9007199254740993',
      key: keyOf(1),
      bytes: 'AAE=',
      double: 2,
    }
    const { data } = await json(other, 'POST', '/items', sent)
    const read = await json(other, 'GET', '/items?count=9007199254740993')
    assert.deepEqual(read.data, [data])
    assert.deepEqual(data, { _id: data._id, ...sent })
    await other.close()
  })

  it('are no text to search in', () => {
    assert.throws(
      () => app().mount('/searched', createRouter({ model, search: ['price'] } as never)),
      /'price', which is not a string/,
    )
  })
}

function collations({ mongoose, connection, app }: Place): void {
  const schema = new mongoose.Schema({ sku: String, name: { type: String, unique: true } })
  schema.index({ sku: 1 }, { unique: true, collation: { locale: 'en', strength: 2 } })
  const Product = connection.model('Product', schema)

  it('are kept unique as the collation compares them', async () => {
    const { model, report } = fromMongoose(Product)
    assert.deepEqual(report, [])
    const api = app().mount('/products', createRouter({ model }))
    assert.equal((await json(api, 'POST', '/products', { sku: 'ABC', name: 'n' })).success, true)
    const taken = await json(api, 'POST', '/products', { sku: 'abc' })
    assert.deepEqual([taken.success, Object.keys(taken.fields)], [false, ['sku']])
    assert.equal((await json(api, 'POST', '/products', { sku: 'abd', name: 'N' })).success, true)
  })

  it('need a store that knows collations', async () => {
    const { model } = fromMongoose(Product)
    const store = sqliteStore({ path: ':memory:' })
    const api = createApp({ store }).mount('/products', createRouter({ model }))
    await assert.rejects(async () => api.ready(), /unique index of 'sku' with a collation/)
    await store.close()
  })
}

function times({ mongoose, connection, native, app }: Place): void {
  const { Schema } = mongoose

  it('keep their type, so that Mongoose finds and sorts by them', async () => {
    const Logged = connection.model(
      'Logged',
      new Schema({ n: Number, createdAt: { type: Number, default: Date.now, index: true } }),
    )
    const { model } = fromMongoose(Logged)
    const router = { model, orderBy: '-createdAt', query: ['createdAt'] } as const
    const api = app().mount('/logged', createRouter(router as never))
    const start = Date.now()
    const { data } = await json(api, 'POST', '/logged', { n: 1, createdAt: 6 })
    await Logged.create({ n: 0, createdAt: 5 })
    assert.equal(typeof data.createdAt, 'number')
    const since = await Logged.find({ createdAt: { $gte: start } })
    assert.deepEqual(
      since.map(({ n }: { n?: unknown }) => n),
      [1],
    )
    const sorted = await json(api, 'GET', '/logged')
    assert.deepEqual(
      sorted.data.map(({ n }: Document) => n),
      [1, 0],
    )
    const found = await json(api, 'GET', '/logged?createdAt=5')
    assert.deepEqual(
      found.data.map(({ n }: Document) => n),
      [0],
    )
    const patched = await json(api, 'PATCH', `/logged/${data._id}`, { n: 2, createdAt: 7 })
    assert.equal(patched.data.createdAt, data.createdAt)
  })

  it('are made by the clock of the schema', async () => {
    const schema = new Schema(
      { n: Number, createdAt: Number, updatedAt: Number, made: BigInt, at: [] as never },
      { timestamps: { currentTime: () => 1234 } },
    )
    schema.add({ list: [new Schema({ createdAt: Number }, { timestamps: true })] })
    const Seconds = connection.model('Seconds', schema)
    const { model, report } = fromMongoose(Seconds)
    assert.deepEqual(
      report.filter(({ serious }) => serious).map(({ path, feature }) => `${path} ${feature}`),
      ['updatedAt timestamps'],
    )
    const api = app().mount('/seconds', createRouter({ model }))
    const { data } = await json(api, 'POST', '/seconds', { n: 1, list: [{}] })
    assert.deepEqual([data.createdAt, data.updatedAt], [1234, 1234])
    await json(api, 'PATCH', `/seconds/${data._id}`, { n: 2 })
    const stored = await native.collection(Seconds.collection.name).findOne({})
    assert.deepEqual([stored?.createdAt, stored?.updatedAt], [1234, 1234])
    assert.equal(typeof stored?.list[0].createdAt, 'number')
    assert.ok(stored?.list[0].updatedAt instanceof Date)
  })

  it('of another model are on other stores as on MongoDB', async () => {
    const schema = new Schema({ n: Number, createdAt: { type: Number, default: Date.now } })
    const { model } = fromMongoose(schema, { name: 'Elsewhere' })
    const store = sqliteStore({ path: ':memory:' })
    const router = createRouter({ model, orderBy: '-createdAt' } as never)
    const other = createApp({ store }).mount('/t', router)
    const { data } = await json(other, 'POST', '/t', { n: 1 })
    assert.equal(typeof data.createdAt, 'number')
    assert.deepEqual((await json(other, 'GET', '/t')).data, [data])
    await other.close()
  })

  it('are hidden if they are not selected, dates too', async () => {
    const unseen = { select: false, type: Date }
    const dates = new Schema({ n: Number, createdAt: unseen }, { timestamps: true })
    const own = new Schema({
      n: Number,
      createdAt: { type: Number, select: false, default: 1 },
    })
    const numbers = new Schema(
      { n: Number, createdAt: { type: Number, select: false } },
      { timestamps: true },
    )
    const inside = new Schema({ n: Number, one: dates, list: [dates] })
    for (const [at, schema] of [dates, own, numbers, inside].entries()) {
      const { model, report } = fromMongoose(schema, { name: `Unseen${at}` })
      assert.ok(report.every(({ feature }) => feature !== 'select'))
      const api = app().mount('/unseen', createRouter({ model }))
      const sent = { n: 1, ...(at === 3 && { one: { n: 1 }, list: [{ n: 1 }] }) }
      const { data } = await json(api, 'POST', '/unseen', sent)
      assert.deepEqual([data.n, JSON.stringify(data).includes('createdAt')], [1, false])
    }
  })
}
