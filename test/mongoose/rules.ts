/**
 * What a model says of a Mongoose schema, seen through the HTTP API and by Mongoose, and what it cannot say.
 *
 * @module
 */

import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { type Document, ObjectId } from 'mongodb'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createApp, createRouter } from '../../src/index.ts'
import { fromMongoose } from '../../src/mongoose/index.ts'
import { eachVersion, json, type Place } from './versions.ts'

eachVersion((place) => {
  describe('the report', () => reports(place))
  describe('the rules', () => rules(place))
  describe('subdocuments', () => subdocuments(place))
  describe('filters and sorts of what JSON has no type for', () => filters(place))
  describe('unique values with a collation', () => collations(place))
})

const hex = /^[0-9a-f]{24}$/

function reports({ mongoose, connection }: Place): void {
  const { Schema } = mongoose
  const T = Schema.Types

  it('names by path what cannot be carried over, and nothing else', () => {
    const schema = new Schema(
      {
        shown: {
          type: Number,
          get: (value: number) => value * 2,
          transform: (value: number) => value,
        },
        set: { type: String, set: (value: string) => value, alias: 'other' },
        late: { type: String, trim: true },
        fixed: { type: String, immutable: true, trim: true },
        checked: { type: Number, validate: (value: number) => value > 1 },
        maybe: { type: String, required: () => true },
        dated: { type: Date, max: Date.now, expires: 60 },
        any: T.Mixed,
        either: { type: T.ObjectId, refPath: 'set' },
        owner: { type: T.ObjectId, ref: () => 'User' },
        code: { type: Number, ref: 'Codes' },
        bytes: { type: Buffer, subtype: 2 },
        searched: { type: String, text: true },
        place: { type: [Number], index: '2dsphere' },
        tags: { type: [String], unique: true },
        some: { type: String, index: { unique: true, partialFilterExpression: { some: 'x' } } },
        nested: { secret: { type: String, get: (value: string) => value } },
        indexed: { type: String, es_indexed: true },
        createdAt: Date,
      },
      {
        strict: false,
        autoIndex: false,
        autoCreate: false,
        collation: { locale: 'en' },
        toJSON: { virtuals: true, transform: () => {} },
      },
    )
    schema.virtual('double').get(() => 2)
    schema.virtual('posts', { ref: 'Post', localField: '_id', foreignField: 'author' })
    schema.path('late').set((value: string) => value)
    schema.methods.greet = () => 'hi'
    schema.statics.all = () => []
    schema.pre('save', () => {})
    schema.post('find', () => {})
    schema.plugin(function audited(own) {
      own.add({ by: String })
    })
    const { model, report } = fromMongoose(connection.model('Animal', schema, 'zoo'))
    assert.equal(model.collection, 'zoo')
    assert.ok(model.shape.fields.has('by'))
    assert.deepEqual(
      report.map(({ path, feature }) => (path === '' ? feature : `${path}: ${feature}`)),
      [
        'collation',
        'methods greet',
        'plugin audited',
        "post('find')",
        "pre('save')",
        'statics all',
        'strict',
        'toJSON',
        'any: Mixed',
        'bytes: subtype',
        'checked: validate',
        'code: ref',
        'createdAt: name',
        'dated: expires',
        'dated: index',
        'dated: max',
        'double: virtual',
        'either: refPath',
        'fixed: immutable',
        'id: virtual',
        'indexed: es_indexed',
        'late: set',
        'maybe: required',
        'nested.secret: get',
        'owner: ref',
        'place: index',
        'posts: virtual',
        'searched: index',
        'set: alias',
        'set: set',
        'shown: get',
        'shown: transform',
        'some: unique',
        'tags: unique',
      ],
    )
    assert.ok(report.every(({ note }) => note !== ''))
  })

  it('is empty where nothing is lost', () => {
    const schema = new Schema(
      {
        name: { type: String, required: true, trim: true, unique: true },
        friends: [{ type: T.ObjectId, ref: 'Person' }],
        born: { type: Date, default: Date.now, index: -1 },
        secret: { type: String, select: false },
        homes: [{ street: String, rent: T.Decimal128 }],
      },
      { timestamps: true },
    )
    schema.index({ born: 1, name: -1 })
    const { model, report } = fromMongoose(schema, { name: 'Person' })
    assert.deepEqual(report, [])
    assert.deepEqual(model.unique, [['name']])
    const indexes = model.indexes.map((keys) =>
      keys.map(({ field, descending }) => `${descending ? '-' : ''}${field}`),
    )
    assert.deepEqual(indexes, [['-born'], ['born', '-name']])
    assert.deepEqual(model.hidden, ['secret'])
    assert.deepEqual(model.timestamps, { createdAt: 'createdAt', updatedAt: 'updatedAt' })
  })

  it('is of models and of schemas with a name alone', () => {
    const schema = new Schema({ n: Number })
    for (const wrong of [undefined, null, {}, () => {}, 'Person']) {
      assert.throws(() => fromMongoose(wrong as never), TypeError)
    }
    assert.throws(() => fromMongoose(schema, {} as never), /needs a name/)
    assert.throws(
      () => fromMongoose(new Schema({ _id: Buffer }), { name: 'Odd' }),
      /ids of the type Buffer/,
    )
  })
}

function rules({ mongoose, connection, native, app }: Place): void {
  const { Schema } = mongoose
  const schema = new Schema(
    {
      name: { type: String, required: true, minlength: 2, maxlength: 5 },
      kind: { type: String, enum: ['a', 'b'], uppercase: false },
      mail: { type: String, lowercase: true, trim: true, match: /^\S+@\S+$/ },
      stars: { type: Number, min: 1, max: 5 },
      level: { type: Number, enum: [1, 2] },
      born: { type: Date, min: '2000-01-01' },
      price: Schema.Types.Decimal128,
      count: BigInt,
      key: Schema.Types.UUID,
      bytes: Buffer,
      tags: [String],
      status: { type: String, default: 'new' },
      secret: { type: String, select: false },
    },
    { timestamps: { createdAt: 'made_at', updatedAt: 'changed_at' } },
  )
  const Person = connection.model('Ruled', schema)
  const api = app().mount('/people', createRouter({ model: fromMongoose(Person).model }))
  before(() => api.ready())
  const post = (body: object) => json(api, 'POST', '/people', { name: 'Ada', ...body })

  it('are the same: what Mongoose refuses is a 400 that names the field', async () => {
    for (const [field, value] of [
      ['name', ''],
      ['name', null],
      ['name', 'Adelaide'],
      ['kind', 'c'],
      ['mail', 'nobody'],
      ['stars', 6],
      ['stars', 0],
      ['level', 3],
      ['born', '1999-01-01'],
      ['price', '1.2.3'],
      ['price', '12345678901234567890123456789012345'],
      ['price', '1e7000'],
      ['price', true],
      ['count', '9223372036854775808'],
      ['count', '1.5'],
      ['count', 1.5],
      ['key', 'x'],
      ['bytes', 'a'],
    ] as const) {
      const { success, fields } = await post({ [field]: value })
      assert.deepEqual([success, Object.keys(fields ?? {})], [false, [field]], `${field} ${value}`)
    }
  })

  it('are the same: what Mongoose takes is stored as Mongoose stores it', async () => {
    const { data } = await post({
      mail: '  A@B.example ',
      kind: null,
      price: 9.99,
      count: 12,
      key: '0B5E0C1E-6A0A-4B1C-9D59-2F9F3B1F2A3C',
      stars: '3',
    })
    const stored = await native
      .collection(Person.collection.name)
      .findOne({ name: 'Ada' }, AS_STORED)
    assert.equal(stored?.mail, 'a@b.example')
    assert.equal(stored?.kind, null)
    assert.deepEqual(
      [stored?.price, stored?.count, stored?.key, stored?.stars].map((one) => one._bsontype),
      ['Decimal128', 'Long', 'Binary', 'Int32'],
    )
    assert.equal(data.price, '9.99')
    assert.equal(data.count, '12')
    const read = await Person.findById(data._id)
    assert.equal(String(read?.price), '9.99')
    assert.equal(read?.count, 12n)
    const cleared = await json(api, 'PATCH', `/people/${data._id}`, {
      mail: null,
      price: null,
      tags: null,
    })
    assert.deepEqual([cleared.data.mail, cleared.data.price, cleared.data.tags], [null, null, null])
  })

  it('fills the defaults of older documents, and hides what is not selected', async () => {
    const _id = new ObjectId()
    await native.collection(Person.collection.name).insertOne({ _id, name: 'Old', secret: 's' })
    const { data } = await json(api, 'GET', `/people/${_id}`)
    assert.deepEqual(data, { _id: String(_id), name: 'Old', tags: [], status: 'new' })
    await json(api, 'PATCH', `/people/${_id}`, { secret: 't' })
    assert.equal((await Person.findById(String(_id)).select('+secret'))?.secret, 't')
  })

  it('sets the timestamps under their own names, which no client writes', async () => {
    const long = '1990-01-01T00:00:00.000Z'
    const { data } = await post({ made_at: long, changed_at: long })
    assert.ok(data.made_at > long)
    assert.equal(data.changed_at, data.made_at)
    const before = await Person.findById(data._id)
    await json(api, 'PATCH', `/people/${data._id}`, { stars: 2, made_at: long })
    const afterwards = await Person.findById(data._id)
    assert.deepEqual(afterwards?.get('made_at'), before?.get('made_at'))
    assert.ok(afterwards?.get('changed_at') >= before?.get('changed_at'))
    assert.equal(afterwards?.stars, 2)
  })

  it('demands of a kind what its discriminator demands', async () => {
    const base = new Schema({ name: String })
    base.discriminator('Ship', new Schema({ masts: { type: Number, required: true } }))
    base.discriminator('Train', new Schema({ cars: Number }), 'train')
    const Vehicle = connection.model('Vehicle', base)
    const { model, report } = fromMongoose(Vehicle)
    assert.deepEqual(report, [])
    const vehicles = app().mount('/vehicles', createRouter({ model }))
    const refused = await json(vehicles, 'POST', '/vehicles', { __t: 'Ship', name: 's' })
    assert.deepEqual(refused.fields, { masts: "Required if __t is 'Ship'." })
    const other = await json(vehicles, 'POST', '/vehicles', { __t: 'Boat' })
    assert.deepEqual(Object.keys(other.fields), ['__t'])
    const train = await json(vehicles, 'POST', '/vehicles', { __t: 'train', cars: 3 })
    const read = await Vehicle.findById(train.data._id)
    assert.equal(read?.get('cars'), 3)
    const Ship = connection.model('Ship')
    const rows = fromMongoose(Ship).report
    assert.deepEqual(
      rows.map(({ feature, note }) => [feature, note.includes("__t: 'Ship'")]),
      [['discriminator', true]],
    )
  })
}

/** Nothing becomes a type of JavaScript. */
const AS_STORED = { promoteValues: false, promoteLongs: false }

function subdocuments({ mongoose, connection, native, app }: Place): void {
  const { Schema } = mongoose
  const Author = connection.model(
    'Author',
    new Schema({
      reviews: [
        new Schema({
          by: { type: String, required: true },
          secret: { type: String, select: false },
        }),
      ],
      home: new Schema({ city: String }),
    }),
  )
  const api = app().mount('/authors', createRouter({ model: fromMongoose(Author).model }))
  before(() => api.ready())
  const listOf = async (): Promise<Document[]> =>
    (await native.collection(Author.collection.name).findOne({}))?.reviews

  it('keep their ids, and get one when they are new', async () => {
    const { data } = await json(api, 'POST', '/authors', {
      reviews: [{ by: 'a' }],
      home: { city: 'x' },
    })
    const [first] = data.reviews
    assert.match(first._id, hex)
    assert.match(data.home._id, hex)
    assert.ok((await listOf())[0]?._id instanceof ObjectId)
    const reviews = [
      { by: 'new', __v: 1 },
      { ...first, by: 'changed', createdAt: 1 },
    ]
    const patched = await json(api, 'PATCH', `/authors/${data._id}`, { reviews })
    const [made, kept] = patched.data.reviews
    assert.deepEqual(kept, { _id: first._id, by: 'changed' })
    assert.deepEqual(made, { by: 'new', _id: made._id })
    assert.match(made._id, hex)
    assert.notEqual(made._id, first._id)
    const read = await Author.findById(data._id)
    assert.equal(read?.reviews.id(first._id)?.by, 'changed')
    assert.equal(read?.reviews.id(made._id)?.by, 'new')
  })

  it('have ids that are ids', async () => {
    const { fields } = await json(api, 'POST', '/authors', { reviews: [{ by: 'a', _id: 'x' }] })
    assert.deepEqual(fields, { 'reviews.0._id': 'Invalid ID format.' })
  })
}

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
    const { data, message } = await json(api, 'GET', `/items?${search}`)
    return data ? data.map(({ n }: { n: number }) => n) : message
  }

  it('compare as MongoDB compares the types, and not as strings', async () => {
    assert.deepEqual(await found('price=10.1'), [2])
    assert.deepEqual(await found('count=9007199254740993'), [3])
    assert.deepEqual(await found(`key=${keyOf(1).toUpperCase()}`), [1])
    assert.deepEqual(await found('bytes=Ag%3D%3D'), [2])
    assert.deepEqual(await found('double=3'), [3])
    const above = 'compareField=price&compareOperator=gt&compareValue=9&orderBy=-price'
    assert.deepEqual(await found(above), [3, 2])
    assert.deepEqual(await found('orderBy=price'), [1, 2, 3])
    assert.deepEqual(await found('orderBy=-count'), [3, 2, 1])
  })

  it('refuse a value that the type cannot be', async () => {
    for (const search of ['price=x', 'count=1.5', 'key=1', 'bytes=%21']) {
      assert.match(String(await found(search)), /Invalid value/, search)
    }
  })

  it('continue after a record by its cursor', async () => {
    const page = async (more: string) =>
      json(api, 'GET', `/items?pagination=cursor&orderBy=price&limit=1${more}`)
    const first = await page('')
    assert.equal(first.data[0].n, 1)
    const second = await page(
      `&cursor=${encodeURIComponent(String(first.meta?.nextCursor ?? first.nextCursor))}`,
    )
    assert.equal(second.data[0].n, 2)
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
