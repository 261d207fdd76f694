/**
 * What a model says of a Mongoose schema, seen through the HTTP API and by Mongoose.
 *
 * @module
 */

import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { type Document, ObjectId } from 'mongodb'
import { fromMongoose } from '../../extras/mongoose/index.ts'
import { createRouter } from '../../src/index.ts'
import { eachVersion, json, type Place } from './versions.ts'

eachVersion((place) => {
  describe('the rules', () => rules(place))
  describe('messages and what old clients send', () => messages(place))
  describe('subdocuments', () => subdocuments(place))
})

const hex = /^[0-9a-f]{24}$/

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
    assert.ok(Number(afterwards?.get('changed_at')) >= Number(before?.get('changed_at')))
    assert.equal(afterwards?.stars, 2)
  })

  it('demands of a kind what its discriminator demands', async () => {
    const base = new Schema({ name: String })
    base.discriminator('Ship', new Schema({ masts: { type: Number, required: true } }))
    base.discriminator('Train', new Schema({ cars: Number }), { value: 'train' })
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
      rows.map(({ feature, note, serious }) => [feature, note.includes("__t: 'Ship'"), serious]),
      [['discriminator', true, true]],
    )
  })
}

function messages({ mongoose, connection, native, app }: Place): void {
  const { Schema } = mongoose
  const Spoken = connection.model(
    'Spoken',
    new Schema({
      mail: {
        type: String,
        required: [true, 'We need your e-mail'],
        match: [/@/, '{VALUE} is no e-mail'],
        maxlength: [9, '{PATH} has {LENGTH} letters, and may have {MAXLENGTH}'],
      },
      kind: { type: String, enum: { values: ['a'], message: 'no kind: {VALUE}' } },
      must: { type: String, enum: ['a'], required: 'Choose' as never, lowercase: true },
      stars: { type: Number, required: [true, 'How many?'], min: [1, 'At least {MIN}'], max: 5 },
      level: { type: Number, enum: { values: [1], message: 'no level' } },
      born: { type: Date, min: [new Date('2000-01-01'), 'Too old'], max: '2020-01-01' },
      seen: { type: Date, min: new Date('1903-10-20') },
      homes: [{ city: { type: String, required: [true, 'Which city?'] } }],
      owner: { type: Schema.Types.ObjectId, ref: 'Spoken' },
      names: { type: Map, of: String },
      tags: [String],
      price: Schema.Types.Decimal128,
      prices: [Schema.Types.Decimal128],
      bytes: Buffer,
    }),
  )
  const api = app().mount('/spoken', createRouter({ model: fromMongoose(Spoken).model }))
  before(() => api.ready())
  const good = { mail: 'a@b', must: 'a', stars: 1 } as const
  const refused = async (body: object) =>
    (await json(api, 'POST', '/spoken', { ...good, ...body })).fields

  it('are those of the schema', async () => {
    for (const [body, fields] of [
      [{ mail: undefined }, { mail: 'We need your e-mail' }],
      [{ mail: null }, { mail: 'We need your e-mail' }],
      [{ mail: '' }, { mail: 'We need your e-mail' }],
      [{ mail: 'nobody' }, { mail: 'nobody is no e-mail' }],
      [{ mail: 'longer@than' }, { mail: 'mail has 11 letters, and may have 9' }],
      [{ kind: 'b' }, { kind: 'no kind: b' }],
      [{ must: undefined }, { must: 'Choose' }],
      [{ stars: undefined }, { stars: 'How many?' }],
      [{ stars: 0 }, { stars: 'At least 1' }],
      [{ level: 2 }, { level: 'no level' }],
      [{ born: '1999-01-01' }, { born: 'Too old' }],
      [{ homes: [{}] }, { 'homes.0.city': 'Which city?' }],
    ] as const) {
      assert.deepEqual(await refused(body), fields, JSON.stringify(body))
    }
  })

  it('show times as times', async () => {
    const early = await refused({ seen: '1900-01-01' })
    assert.match(early.seen, />=1903-10-20T00:00:00\.000Z/)
    const late = await refused({ born: '2021-01-01' })
    assert.match(late.born, /<=2020-01-01T00:00:00\.000Z/)
  })

  it('refuse what only Mongoose casts', async () => {
    const _id = 'a'.repeat(24)
    for (const body of [
      { owner: { _id, name: 'x' } },
      { names: { a: 1 } },
      { mail: 5 },
      { tags: 'a' },
    ]) {
      const [field] = Object.keys(body)
      const fields = Object.keys((await refused(body)) ?? {}).map((path) => path.split('.')[0])
      assert.deepEqual(fields, [field], JSON.stringify(body))
    }
  })

  it('are not needed for the JSON of Mongoose, which is taken back', async () => {
    const { _id } = await Spoken.create({ ...good, price: '3.50', bytes: Buffer.from([1, 255]) })
    const shown = JSON.parse(JSON.stringify(await Spoken.findById(_id)))
    const before = await native
      .collection(Spoken.collection.name)
      .findOne({ mail: good.mail }, AS_STORED)
    const { price, bytes } = shown
    assert.deepEqual(price, { $numberDecimal: '3.50' })
    const body = { price, bytes, prices: [price] }
    const { data } = await json(api, 'PATCH', `/spoken/${_id}`, body)
    assert.deepEqual([data.price, data.bytes, data.prices], ['3.50', 'Af8=', ['3.50']])
    const afterwards = await native
      .collection(Spoken.collection.name)
      .findOne({ mail: good.mail }, AS_STORED)
    assert.deepEqual([afterwards?.price, afterwards?.bytes], [before?.price, before?.bytes])
    for (const wrong of [
      { price: { $numberDecimal: 'x' } },
      { price: { $numberDecimal: { $gt: 1 } } },
      { price: { a: 1 } },
      { prices: [{ $numberDecimal: 'x' }] },
      { bytes: { type: 'Buffer', data: [256] } },
      { bytes: { type: 'Buffer', data: 'x' } },
    ]) {
      const [field] = Object.keys(wrong)
      const fields = Object.keys(await refused(wrong)).map((path) => path.split('.')[0])
      assert.deepEqual(fields, [field], JSON.stringify(wrong))
    }
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

  it('keep their ids in long lists', async () => {
    const { data } = await json(api, 'POST', '/authors', { reviews: [] })
    const sent = Array.from({ length: 3000 }, (_, n) => ({
      _id: n.toString(16).padStart(24, '0'),
      by: `${n}`,
    }))
    const { data: patched } = await json(api, 'PATCH', `/authors/${data._id}`, { reviews: sent })
    assert.deepEqual(patched.reviews, sent)
  })

  it('have ids that are ids', async () => {
    const { fields } = await json(api, 'POST', '/authors', { reviews: [{ by: 'a', _id: 'x' }] })
    assert.deepEqual(fields, { 'reviews.0._id': 'Invalid ID format.' })
  })
}
