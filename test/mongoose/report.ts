/**
 * What of a Mongoose schema a model cannot say.
 *
 * @module
 */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fromMongoose } from '../../src/mongoose/index.ts'
import { eachVersion, type Place } from './versions.ts'

eachVersion((place) => {
  describe('the report', () => reports(place))
})

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
