import fc from 'fast-check'
import { Binary, BSON, Decimal128, Long, ObjectId, Timestamp } from 'mongodb'
import { expect, test } from 'vitest'
import { BsonReader } from '../../../adapters/stores/mongodb/documents/bson.ts'
import { fromDocument } from '../../../adapters/stores/mongodb/documents/documents.ts'
import type { ObjectShape } from '../../../src/ports/store/shape.ts'
import { runs, seeded } from '../../runs.ts'

const ANY: ObjectShape = { kind: 'object', fields: new Map() }

const name = fc.oneof(
  fc.constantFrom('_id', 'name', 'é', '名', '7', '', 'toString', 'a'.repeat(40)),
  fc.string({ unit: 'grapheme', maxLength: 8 }).filter((text) => !/^\$|\0|^__proto__$/.test(text)),
)

const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.string({ unit: 'binary' }),
    fc.double({ noDefaultInfinity: false }),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.date({ noInvalidDate: true }),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(Long.fromBigInt),
    fc.uint8Array({ minLength: 12, maxLength: 12 }).map((bytes) => new ObjectId(bytes)),
    fc.array(tie('value'), { maxLength: 12 }),
    fc.dictionary(name, tie('value'), { maxKeys: 5 }),
  ),
}))

const bytesOf = (document: object) => BSON.serialize(document)
const byDriver = (bytes: Uint8Array) => fromDocument(BSON.deserialize(bytes), ANY)

test('documents are read as the driver reads them', () => {
  fc.assert(
    fc.property(fc.dictionary(name, value, { maxKeys: 8 }), (document) => {
      const bytes = bytesOf(document)
      const read = new BsonReader(bytes).document()
      expect(read).toEqual(byDriver(bytes))
      expect(JSON.stringify(read)).toBe(JSON.stringify(byDriver(bytes)))
    }),
    { numRuns: runs(500), ...seeded },
  )
})

test.each([
  ['a decimal', { deep: [{ price: Decimal128.fromString('1.5') }] }],
  ['bytes', { file: new Binary(new Uint8Array(3)) }],
  ['a pattern', { like: /a/i }],
  ['a timestamp', { at: new Timestamp(1n) }],
  ['a reference', { to: { $ref: 'people', $id: 1 } }],
  ['a name that objects have', JSON.parse('{"__proto__":{"isAdmin":true}}')],
])('%s is left to the driver', (_, document) => {
  expect(new BsonReader(bytesOf({ first: 1, ...document, last: 1 })).document()).toBeUndefined()
})

test('a document keeps its values although its names have one hash', () => {
  // 'Aa' and 'BB' do, in a hash that multiplies by 31.
  const both = { Aa: 1, BB: 2, AaAa: 3, BBBB: 4, AaBB: 5, BBAa: 6 }
  expect(new BsonReader(bytesOf(both)).document()).toEqual(both)
  expect(new BsonReader(bytesOf({ BB: 2, Aa: 1 })).document()).toEqual({ BB: 2, Aa: 1 })
})
