import type { Document } from 'mongodb'
import { describe, expect, it } from 'vitest'
import { restAfter } from '../../../adapters/stores/mongodb/query/filter.ts'
import type { Scalar } from '../../../src/ports/store/filter.ts'
import type { ObjectShape } from '../../../src/ports/store/shape.ts'

const shape: ObjectShape = {
  kind: 'object',
  fields: new Map([
    ['_id', { kind: 'id', idType: 'text' }],
    ['age', { kind: 'number' }],
    ['name', { kind: 'string' }],
  ]),
}
const unset = { age: { $eq: null } }
const tie = { age: { $eq: 1 } }
const byId = { _id: { $gt: 'x' } }
const others = (...types: string[]) => ({ age: { $type: types } })
const AFTER_NUMBERS = [
  'string',
  'object',
  'binData',
  'objectId',
  'bool',
  'date',
  'timestamp',
  'regex',
  'javascript',
  'maxKey',
]

const positions: [string, boolean, Scalar, Document[]][] = [
  [
    'a value, ascending',
    false,
    1,
    [{ $and: [tie, byId] }, { age: { $gt: 1 } }, others(...AFTER_NUMBERS)],
  ],
  ['null, ascending', false, null, [{ $and: [unset, byId] }, { $nor: [{ age: { $eq: null } }] }]],
  [
    'a value, descending',
    true,
    1,
    [{ $and: [tie, byId] }, { age: { $lt: 1 } }, unset, { age: { $lte: Number.NaN } }],
  ],
  ['null, descending', true, null, [{ $and: [unset, byId] }]],
  [
    'a value of another type, descending',
    true,
    'a',
    [
      { $and: [{ age: { $eq: 'a' } }, byId] },
      { age: { $lt: 'a' } },
      { age: { $eq: null } },
      others('number'),
    ],
  ],
]

describe('restAfter', () => {
  it.each(positions)('is what comes later than %s', (_, descending, value, parts) => {
    const sort = [
      { field: 'age', descending },
      { field: '_id', descending: false },
    ]
    const [only] = parts
    const expected = parts.length === 1 ? only : { $or: parts }
    expect(restAfter({}, sort, [value, 'x'], shape)).toEqual(expected)
  })

  it('holds the query in each part', () => {
    const query = { name: { $eq: 'a' } }
    const sort = [
      { field: 'age', descending: true },
      { field: '_id', descending: true },
    ]
    const rest = restAfter(query, sort, [1, 'x'], shape)
    expect(rest).toMatchObject({ $or: expect.any(Array) })
    for (const part of rest.$or) {
      expect(part).toMatchObject({ $and: expect.arrayContaining([query]) })
    }
  })
})
