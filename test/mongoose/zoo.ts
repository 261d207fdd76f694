/**
 * A zoo of schemas: every type that Mongoose has, with documents of it.
 *
 * @module
 */

import type { Schema as AnySchema } from 'mongoose'
import type { Mongoose } from './versions.ts'

/** An inhabitant: a schema, documents of it, and what of the schema is not carried over. */
export interface Inhabitant {
  readonly schema: AnySchema
  readonly documents: readonly object[]
  readonly report?: readonly string[]
}

const DAY = new Date('2020-02-29T12:00:00.123Z')
let seconds = DAY.getTime() / 1000
/** A clock that shows another second each time it is asked, so that no write of a time goes unseen. */
const nextSecond = () => Math.floor(seconds++)

/** The inhabitants, by name. */
export function zoo(mongoose: Mongoose): Record<string, Inhabitant> {
  const { Schema, Types } = mongoose
  const T = Schema.Types
  const id = () => new Types.ObjectId()
  return {
    Strings: {
      schema: new Schema({
        plain: String,
        trimmed: { type: String, trim: true, lowercase: true },
        chosen: { type: String, enum: ['a', 'b'], default: 'a' },
        matched: { type: String, match: /^x+$/g, minlength: 2, maxlength: 9 },
        needed: { type: String, required: true },
      }),
      documents: [
        { plain: '', trimmed: ' Ab ', chosen: 'b', matched: 'xxx', needed: 'é\u0000' },
        { plain: null, needed: 'x' },
      ],
      report: ['trimmed trim, lowercase'],
    },
    Numbers: {
      schema: new Schema({
        number: { type: Number, min: -5, max: 1e300 },
        one: { type: Number, enum: [1, 2] },
        double: T.Double,
        int: T.Int32,
        decimal: T.Decimal128,
        decimals: [T.Decimal128],
        big: BigInt,
        bigs: { type: Map, of: BigInt },
      }),
      documents: [
        {
          number: 1.5,
          one: 2,
          double: 5,
          int: -7,
          decimal: '123456789012345678901234.5678',
          decimals: ['1.10', '-0', '1E+6000', 'NaN', '0E-6176', '-Infinity'],
          big: 9007199254740993n,
          bigs: { a: -(2n ** 63n), b: 1n, c: 2n ** 63n - 1n },
        },
        { number: 3, double: 0.1, decimal: 2, big: 5n, decimals: [] },
      ],
    },
    Others: {
      schema: new Schema(
        {
          date: { type: Date, min: new Date(0) },
          yes: Boolean,
          id: T.ObjectId,
          uuid: T.UUID,
          uuids: [T.UUID],
          bytes: Buffer,
          none: Buffer,
          uuidBytes: { type: Buffer, subtype: 4 },
          map: Map,
          numbers: { type: Map, of: Number },
          dates: { type: Map, of: Date },
        },
        { id: false },
      ),
      documents: [
        {
          date: DAY,
          yes: false,
          id: id(),
          uuid: '0b5e0c1e-6a0a-4b1c-9d59-2f9f3b1f2a3c',
          uuids: ['0b5e0c1e-6a0a-4b1c-9d59-2f9f3b1f2a3d'],
          bytes: Buffer.from([0, 255, 128]),
          none: Buffer.alloc(0),
          map: { b: 1, a: 'x', 3: [1] },
          numbers: { z: 1, a: 2.5 },
          dates: { d: DAY },
        },
      ],
      report: ['map Mixed'],
    },
    Lists: {
      schema: new Schema({
        tags: [String],
        grid: [[Number]],
        dates: [Date],
        chosen: [{ type: String, enum: ['x', 'y'] }],
        none: { type: [String], default: undefined },
        friends: [{ type: T.ObjectId, ref: 'Others' }],
        needed: { type: [Number], required: true },
      }),
      documents: [
        {
          tags: ['b', 'a', null],
          grid: [[1, 2.5], []],
          dates: [DAY],
          chosen: ['y'],
          friends: [id(), id()],
          needed: [1],
        },
        { tags: [], needed: [] },
      ],
    },
    Nested: {
      schema: new Schema({
        address: {
          street: { type: String, required: true },
          city: String,
          place: { lat: Number, lng: { type: Number, default: 0 } },
        },
        meta: { seen: { type: Number, default: 0 } },
        bare: { a: String },
      }),
      documents: [
        { address: { city: 'B', street: 'A', place: { lng: 2, lat: 1 } }, meta: { seen: 5 } },
        { address: { street: 'A' }, bare: { a: 'x' } },
      ],
    },
    Subdocuments: {
      schema: new Schema({
        reviews: [
          new Schema({
            by: String,
            score: { type: T.Decimal128 },
            at: Date,
            who: { type: T.ObjectId, ref: 'Others' },
          }),
        ],
        plain: [new Schema({ n: Number }, { _id: false })],
        one: new Schema({ name: String, deep: [new Schema({ x: T.UUID })] }),
        timed: [new Schema({ text: String }, { timestamps: true })],
        mapped: { type: Map, of: new Schema({ n: Number }) },
        named: [new Schema({ _id: String, n: Number })],
      }),
      documents: [
        {
          reviews: [
            { score: '4.50', by: 'a', at: DAY, who: id() },
            { _id: id(), by: 'b' },
          ],
          plain: [{ n: 1 }],
          one: { deep: [{ x: '0b5e0c1e-6a0a-4b1c-9d59-2f9f3b1f2a3c' }], name: 'n' },
          timed: [{ text: 'x' }],
          mapped: { k: { n: 1 } },
          named: [{ n: 1, _id: 'mine' }],
        },
        { reviews: [], one: null },
      ],
      report: ['timed.createdAt timestamps', 'timed.updatedAt timestamps'],
    },
    Kinds: {
      schema: kindsOf(mongoose),
      documents: [
        { name: 'plain', shapes: [] },
        {
          __t: 'Car',
          name: 'c',
          wheels: 4,
          shapes: [
            { kind: 'Circle', radius: '1.5' },
            { kind: 'Square', side: 2 },
          ],
        },
      ],
    },
    Timed: {
      schema: new Schema(
        { n: Number },
        { timestamps: { createdAt: 'made', updatedAt: 'changed' } },
      ),
      documents: [{ n: 1 }],
    },
    NumberTimes: {
      schema: new Schema(
        { n: Number, createdAt: Number, updatedAt: { type: Number, index: true } },
        { timestamps: { currentTime: nextSecond } },
      ),
      documents: [{ n: 1 }],
      report: ['createdAt timestamps', 'updatedAt timestamps'],
    },
    OwnTimes: {
      schema: new Schema({
        n: Number,
        createdAt: { type: Number, default: Date.now, index: -1 },
        updatedAt: { type: String, lowercase: true },
        list: [new Schema({ n: Number, createdAt: Number }, { timestamps: true })],
      }),
      documents: [{ n: 1, updatedAt: 'monday', list: [{ n: 1 }] }, { n: 2 }],
      report: [
        'createdAt name',
        'list.createdAt timestamps',
        'list.updatedAt timestamps',
        'updatedAt lowercase',
        'updatedAt name',
      ],
    },
    Defaults: {
      schema: new Schema({
        text: { type: String, default: 'x' },
        none: { type: Number, default: null },
        amount: { type: T.Decimal128, default: '0.00' },
        big: { type: BigInt, default: 7n },
        since: { type: Date, default: Date.now },
        list: { type: [Number], default: [1, 2] },
        any: { type: T.Mixed, default: { a: 1 } },
        made: { type: String, default: () => crypto.randomUUID() },
        own: {
          type: String,
          default(this: { text: string }) {
            return this.text
          },
        },
        settings: {
          type: new Schema({ dark: { type: Boolean, default: false } }, { _id: false }),
          default: () => ({}),
        },
      }),
      documents: [{}, { text: 'y', since: DAY, any: { b: 1, a: [null] }, list: [] }],
      report: ['any Mixed', 'made default', 'own default'],
    },
    Numbered: {
      schema: new Schema({
        _id: Number,
        n: Number,
        list: [new Schema({ _id: Number, n: Number })],
      }),
      documents: [
        { _id: 7, n: 1, list: [{ _id: 2, n: 1 }] },
        { _id: -3, n: 1 },
      ],
      report: ['_id type Number'],
    },
    Universal: {
      schema: new Schema({ _id: { type: T.UUID, default: () => crypto.randomUUID() }, n: Number }),
      documents: [{ n: 1 }],
    },
    Mixed: {
      schema: new Schema({
        meta: T.Mixed,
        items: [],
        lists: [[T.Mixed]],
        map: { type: Map, of: T.Mixed },
        names: { type: Map, of: String },
        open: [new Schema({ n: Number }, { strict: false })],
        either: { type: T.Union, of: [Number, T.Mixed] },
      }),
      documents: [
        {
          meta: anything(),
          items: [anything(), 1, [anything()]],
          lists: [[anything()]],
          map: { _id: 'i', createdAt: 1, __v: 1, inside: anything() },
          names: { _id: 'i', updatedAt: 'x', __v: 'y' },
          open: [{ n: 1, createdAt: 'x', 'c.d': 2, $e: 3, more: anything() }],
          either: anything(),
        },
      ],
      report: [
        'either Mixed',
        'either Union',
        'items Mixed',
        'lists Mixed',
        'map Mixed',
        'meta Mixed',
        'open strict',
      ],
    },
    Named: {
      schema: new Schema({ _id: String, n: Number }),
      documents: [{ _id: 'first', n: 1 }],
      report: ['_id type String'],
    },
  }
}

/** JSON with the keys that no client writes elsewhere. */
function anything(): object {
  return {
    _id: 'm1',
    createdAt: '2020-01-01',
    updatedAt: 'x',
    __v: 3,
    keep: 1,
    'a.b': 2,
    $set: { $gt: 1, list: [{ $a: 1 }] },
    deep: [{ _id: 'q', v: 1, 'c.d': { updatedAt: 2 } }, [{ __v: 1 }]],
  }
}

/** Kinds that share a collection, and kinds that share a list. */
function kindsOf(mongoose: Mongoose): AnySchema {
  const { Schema } = mongoose
  const shape = new Schema({ label: String }, { discriminatorKey: 'kind', _id: false })
  const schema = new Schema({ name: String, shapes: [shape] })
  const list = schema.path('shapes') as unknown as {
    discriminator(name: string, kind: object): void
  }
  list.discriminator(
    'Circle',
    new Schema({ radius: { type: Schema.Types.Decimal128, required: true } }, { _id: false }),
  )
  list.discriminator('Square', new Schema({ side: Number }, { _id: false }))
  schema.discriminator('Car', new Schema({ wheels: { type: Number, required: true } }))
  return schema
}
