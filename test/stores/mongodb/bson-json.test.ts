import { Binary, BSON, Decimal128, type Document, Double, Long, ObjectId, Timestamp } from 'mongodb'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { bsonOf } from '../../../adapters/stores/mongodb/bson.ts'
import { JsonWriter } from '../../../adapters/stores/mongodb/bson-json.ts'
import { fromDocument, textOf } from '../../../adapters/stores/mongodb/documents.ts'
import { Random } from '../../../extras/contract/store/random.ts'
import { defineModel } from '../../../src/index.ts'
import { onlyDeclared, withDefaults } from '../../../src/ports/declared.ts'
import type { Fields } from '../../../src/ports/store.ts'

const inside = z.object({ city: z.string(), since: z.date().optional() })
const Thing = defineModel('Thing', {
  fields: {
    name: z.string(),
    size: z.number().optional(),
    on: z.boolean().nullable(),
    born: z.date().optional(),
    home: inside.optional(),
    homes: z.array(inside).optional(),
    tags: z.array(z.string()).optional(),
    rates: z.record(z.string(), z.number()).optional(),
    any: z.unknown().optional(),
    kind: z.string().default('plain'),
  },
})
const { declared, shape } = Thing
const hidden = new Set(['_grams', '_lock', '__v'])

/** What the writer says of a document, with other bytes before it. */
function written(document: Document, isFilled = false): string | undefined {
  const bytes = BSON.serialize(document)
  const within = new Uint8Array(bytes.length + 3)
  within.set(bytes, 3)
  return new JsonWriter(declared, hidden, isFilled).document(bsonOf(within), 3)
}

/** The same by way of objects. */
function shown(document: Document, isFilled = false): string {
  const record = fromDocument(BSON.deserialize(BSON.serialize(document)), shape)
  const kept = onlyDeclared(declared, record)
  return textOf((isFilled ? withDefaults(declared, kept) : kept) as Fields)
}

const _id = new ObjectId('6553f100000000000000000a')

describe('the JSON of a document, straight from BSON', () => {
  it.each<[string, Document]>([
    ['strings', { name: 'a "quoted" \\ \n\u0001\u007f ä 漢 😀 \u2028' }],
    ['an empty string', { name: '' }],
    ['whole numbers', { size: -2147483648, any: [0, 7, 2147483647] }],
    [
      'doubles',
      { size: 1.5e-7, any: [1e21, 0.1, new Double(-0), new Double(3), Number.NaN, Infinity] },
    ],
    [
      'long numbers',
      { any: [Long.fromString('9007199254740993'), Long.fromNumber(-5), Long.MIN_VALUE] },
    ],
    ['booleans and null', { on: true, size: null, any: [false, null] }],
    [
      'dates',
      {
        born: new Date(0),
        any: [
          new Date(-1),
          new Date(253402300799999),
          new Date(253402300800000),
          new Date(8.64e15),
        ],
      },
    ],
    [
      'dates of one day',
      { born: new Date(86399999), any: [new Date(86400000), new Date(172799990)] },
    ],
    ['ids', { name: new ObjectId(), any: [_id] }],
    [
      'objects and lists',
      {
        home: { city: 'a', since: new Date(1) },
        homes: [{ city: 'b' }],
        tags: [],
        rates: { a: 1 },
      },
    ],
    [
      'what no model declares',
      { other: 1, home: { city: 'a', street: 'b' }, tags: [{ a: 1 }, 'b'], homes: ['c', { x: 1 }] },
    ],
    ['an object where none is declared', { name: { a: 1 }, on: [{ a: 1 }, true] }],
    ['what the store adds', { _grams: { name: ['abc'] }, _lock: 1, __v: 0, name: 'a' }],
    ['members in another order', { kind: 'x', name: 'a', on: false, size: 1 }],
    ['free values', { any: { b: { c: [{ 'd"': 1 }, []] }, a: {} } }],
  ])('holds %s', (_, fields) => {
    const document = { _id, ...fields }
    expect(written(document)).toBe(shown(document))
  })

  it('is the same for random documents', () => {
    const random = new Random(7)
    const values: unknown[] = [
      'x',
      'ü"',
      1,
      2.5,
      true,
      null,
      new Date(123456789),
      _id,
      [1, 'a'],
      { city: 'q', x: 1 },
    ]
    for (let at = 0; at < 500; at += 1) {
      const document: Document = { _id }
      for (const name of [...shape.fields.keys(), 'other', '__v']) {
        if (name !== '_id' && random.chance(60)) document[name] = random.of(values as [unknown])
      }
      expect(written(document)).toBe(shown(document))
    }
  })

  it('is left to others where types are rare, or names have a place of their own in objects', () => {
    const rare = [
      Decimal128.fromString('1'),
      new Binary(new Uint8Array(2)),
      /a/,
      new Timestamp({ t: 1, i: 1 }),
    ]
    for (const any of [...rare, { 0: 1 }, { $ref: 'a', $id: 1 }]) {
      expect(written({ _id, any })).toBeUndefined()
    }
    expect(written({ name: 'a', _id })).toBeUndefined()
    expect(written({ _id, name: 'a'.repeat(300_000) })).toBeUndefined()
  })

  it('is left to others where a default is missing that is asked for', () => {
    expect(written({ _id, name: 'a' }, true)).toBeUndefined()
    const whole = { _id, name: 'a', kind: 'b' }
    expect(written(whole, true)).toBe(shown(whole, true))
  })
})
