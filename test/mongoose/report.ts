/**
 * What of a Mongoose schema a model cannot say.
 *
 * @module
 */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Schema as AnySchema } from 'mongoose'
import { fromMongoose, type ReportRow } from '../../extras/mongoose/index.ts'
import { createRouter } from '../../src/index.ts'
import { eachVersion, json, type Place } from './versions.ts'

eachVersion((place) => {
  describe('the report', () => reports(place))
})

function reports({ mongoose, connection, app }: Place): void {
  const { Schema } = mongoose
  const T = Schema.Types
  const named = (rows: readonly ReportRow[]) =>
    rows.map(({ path, feature }) => `${path} ${feature}`)
  const serious = (schema: AnySchema) =>
    named(fromMongoose(schema, { name: 'Any' }).report.filter((row) => row.serious)).sort()

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
        dated: { type: Date, max: Date.now as never, expires: 60 },
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
      own.add({ by: String } as never)
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
        'fixed: trim',
        'id: virtual',
        'indexed: es_indexed',
        'late: set',
        'late: trim',
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
        name: { type: String, required: true, unique: true },
        friends: [{ type: T.ObjectId, ref: 'Person' }],
        born: { type: Date, default: Date.now, index: -1 },
        secret: { type: String, select: false },
        homes: [{ street: String, rent: T.Decimal128 }],
      },
      { timestamps: true },
    )
    schema.index({ born: 1, name: -1 })
    schema.index({ createdAt: -1, _id: 1 })
    const { model, report } = fromMongoose(schema, { name: 'Person' })
    assert.deepEqual(report, [])
    assert.deepEqual(model.unique, [['name']])
    const indexes = model.indexes.map((keys) =>
      keys.map(({ field, descending }) => `${descending ? '-' : ''}${field}`),
    )
    assert.deepEqual(indexes, [['-born'], ['born', '-name'], ['-createdAt', '_id']])
    assert.deepEqual(model.hidden, ['secret'])
    assert.deepEqual(model.timestamps, { createdAt: 'createdAt', updatedAt: 'updatedAt' })
  })

  it('says which rows are serious, and what to do instead', () => {
    const schema = new Schema(
      {
        password: { type: String, set: (value: string) => value },
        inside: new Schema({ n: Number }, { strict: false }),
      },
      { strict: false, collation: { locale: 'en' }, toJSON: { transform: () => {} } },
    )
    schema.virtual('posts', { ref: 'Post', localField: '_id', foreignField: 'author' })
    schema.pre('find', () => {})
    schema.pre('save', () => {})
    schema.post('save', () => {})
    schema.pre('deleteOne', () => {})
    const { report } = fromMongoose(schema, { name: 'Hooked' })
    const rows = report.map(({ path, feature, note, serious }) => {
      const advice = /`(?:\w+)`|extra route|dropped|any JSON|compares/.exec(note)?.[0]
      return [`${path} ${feature}`, advice, serious]
    })
    assert.deepEqual(rows, [
      [' collation', 'compares', false],
      [" post('save')", '`runAfterCreate`', false],
      [" pre('deleteOne')", '`beforeRemove`', true],
      [" pre('find')", '`scope`', true],
      [" pre('save')", '`validate`', true],
      [' strict', 'dropped', false],
      [' toJSON', '`hidden`', true],
      ['inside strict', 'any JSON', false],
      ['password set', '`validate`', true],
      ['posts virtual', 'extra route', false],
    ])
  })

  it('is serious about what hides fields, wherever Mongoose is told so', () => {
    const hiding = new Schema({ password: String, n: { one: Number } })
    hiding.methods.toJSON = () => ({})
    class Hidden {
      toObject() {
        return {}
      }
    }
    const loaded = new Schema({ password: String }).loadClass(Hidden)
    assert.deepEqual(serious(new Schema({ kept: [hiding] })), ['kept methods toJSON'])
    assert.deepEqual(serious(hiding), [' methods toJSON'])
    assert.deepEqual(serious(loaded), [' methods toObject'])
    const told = new mongoose.Mongoose()
    told.set('toJSON', { virtuals: true, transform: () => {} })
    told.set('toObject', { transform: () => {} })
    const inside = new told.Schema({ n: Number }, { toJSON: { flattenMaps: true } })
    const global = new told.Schema({ inside, list: [inside] }, { toJSON: { getters: true } })
    for (const source of [told.model('Told', global), global]) {
      const options = { name: 'Told' } as never
      const { report } = fromMongoose(source as never, source === global ? options : {})
      assert.deepEqual(named(report), [' toJSON', ' toObject', 'id virtual'])
      assert.deepEqual(serious(global), [' toJSON', ' toObject'])
    }
    told.plugin(function hiding(own) {
      own.pre('find', () => {})
    })
    assert.deepEqual(serious(global), [' plugin hiding', ' toJSON', ' toObject'])
    const not = new Schema({ n: Number }, { toJSON: { transform: false as never } })
    assert.deepEqual(serious(not), [])
  })

  it('is serious about what is refused or computed by Mongoose alone', () => {
    const strict = new Schema(
      {
        maybe: { type: String, required: () => true },
        dated: { type: Date, max: Date.now as never },
        own: { type: String, default: (document: { maybe: string }) => document.maybe },
        odd: { type: Number, cast: (value: unknown) => Number(value) } as never,
        told: { type: Number, cast: 'Not a number' } as never,
      },
      { strict: 'throw' },
    )
    assert.deepEqual(serious(strict), [
      ' strict',
      'dated max',
      'maybe required',
      'odd cast',
      'own default',
    ])
    const user = new Schema({ hash: { type: String, select: false }, name: String })
    user.virtual('password').set(() => {})
    user.virtual('full').get(() => 'x')
    const both = user.virtual('both')
    both.get(() => 'x')
    both.set(() => {})
    user.virtual('posts', { ref: 'Post', localField: '_id', foreignField: 'by' })
    assert.deepEqual(serious(user), ['both virtual', 'password virtual'])
    const kinds = new Schema({ n: Number })
    const kind = new Schema({ m: Number })
    kind.pre('save', () => {})
    kind.methods.toJSON = () => ({})
    kinds.discriminator('Kind', kind)
    assert.deepEqual(serious(kinds), [" pre('save')", ' methods toJSON'].sort())
  })

  it('is serious about ids that are made otherwise', () => {
    const { ObjectId, UUID } = Schema.Types
    for (const [_id, isSerious] of [
      [{ type: String, default: () => 'usr_1' }, true],
      [{ type: String, required: true, match: /^..$/ }, true],
      [String, true],
      [Number, false],
      [{ type: Number, default: () => 7 }, true],
      [{ type: Number, min: 5 }, true],
      [{ type: ObjectId, ref: 'User' }, true],
      [{ type: ObjectId, required: true }, false],
      [{ type: UUID, default: () => crypto.randomUUID() }, false],
    ] as const) {
      const found = serious(new Schema({ _id: _id as never, n: Number }))
      assert.deepEqual(found.length > 0, isSerious, JSON.stringify(_id))
    }
  })

  it('says what filters, changes and other databases are not', () => {
    const schema = new Schema({
      mail: { type: String, lowercase: true, trim: true },
      codes: [{ type: String, uppercase: true }],
    })
    const { report } = fromMongoose(schema, { name: 'Changed' })
    assert.deepEqual(named(report), ['codes uppercase', 'mail trim, lowercase'])
    assert.ok(report.every(({ note, serious }) => note.includes('filters') && !serious))
    const series = new Schema({ at: Date }, { timeseries: { timeField: 'at' }, autoCreate: false })
    const [row] = fromMongoose(series, { name: 'Series' }).report
    assert.match(String(row?.note), /access: \{ update: false, remove: false \}/)
    assert.equal(row?.serious, true)
    const other = connection.useDb('elsewhere').model('Elsewhere', new Schema({ n: Number }))
    const rows = fromMongoose(other).report
    assert.deepEqual([named(rows), rows[0]?.note.includes("'elsewhere'")], [[' useDb'], true])
  })

  it('has no row for the option that names the type', () => {
    const inner = new Schema({ q: { $type: String } } as never, { typeKey: '$type' })
    const schema = new Schema({ a: { kind: String }, l: [{ kind: Number }], inner } as never, {
      typeKey: 'kind',
    })
    assert.deepEqual(fromMongoose(schema, { name: 'Keyed' }).report, [])
  })

  it('comes with what is added to a model', async () => {
    const schema = new Schema({ first: String, last: String, secret: String, old: Number })
    const Named = connection.model('Added', schema)
    const { model } = fromMongoose<{ first: string; last: string; old: number }>(Named, {
      output: ({ _id, first, last, old }) => ({ _id, name: `${first} ${last}`, old }),
      convert: { old: (stored) => Number(stored) },
      hidden: ['secret'],
      unique: [['first', 'last']],
      indexes: ['-last'],
    })
    const api = app().mount('/added', createRouter({ model }))
    await Named.collection.insertOne({ first: 'Ada', last: 'L', old: '7', secret: 's' })
    const { data } = await json(api, 'GET', '/added')
    assert.deepEqual(data, [{ _id: data[0]._id, name: 'Ada L', old: 7 }])
    const again = await json(api, 'POST', '/added', { first: 'Ada', last: 'L' })
    assert.deepEqual([again.success, Object.keys(again.fields)], [false, ['first', 'last']])
  })

  it('refuses options that it does not know', () => {
    const Named = connection.model('Optioned', new Schema({ n: Number }))
    const wrong = (options: object) => () => fromMongoose(Named, options as never)
    assert.throws(wrong({ outptu: () => {} }), /unknown option 'outptu'\. Did you mean 'output'\?/)
    assert.throws(wrong({ collection: 'x' }), /'collection' is for schemas/)
    assert.throws(wrong({ output: 'x' }), /'output' must be a function/)
    assert.throws(wrong({ hidden: ['m'] }), /'hidden' lists 'm'/)
  })

  it('says how to serve several kinds of one collection', () => {
    const base = new Schema({ at: Date })
    const Event = connection.model('Event', base)
    const Buy = Event.discriminator('Buy', new Schema({ price: Number }))
    const { report, model } = fromMongoose(Buy)
    assert.match(String(report[0]?.note), /__t: 'Buy'.*mount that of the base in a router for each/)
    assert.equal(report[0]?.serious, true)
    const event = fromMongoose(Event).model
    const api = app().mount('/events', createRouter({ model: event }))
    assert.throws(
      () => api.mount('/buys', createRouter({ model })),
      /Model 'Buy': its collection 'events' is that of the model 'Event'\. Use one model, in several routers with a scope/,
    )
  })

  it('is of models and of schemas with a name alone', () => {
    const schema = new Schema({ n: Number })
    for (const wrong of [undefined, null, {}, () => {}, 'Person']) {
      assert.throws(() => fromMongoose(wrong as never), TypeError)
    }
    assert.throws(() => fromMongoose(schema, {} as never), /needs a name/)
    const odd = (_id: unknown) => () =>
      fromMongoose(new Schema({ _id: _id as never }), { name: 'Odd' })
    assert.throws(odd(Buffer), /ids of the type Buffer/)
    assert.throws(odd({ a: Number, b: Number }), /ids of the type Object/)
  })
}
