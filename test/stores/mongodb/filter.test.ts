import { ObjectId } from 'mongodb'
import { describe, expect, it } from 'vitest'
import { compileFilter } from '../../../adapters/stores/mongodb/query/filter.ts'
import { everything, type Filter, nothing } from '../../../src/ports/store/filter.ts'
import type { ObjectShape, Shape } from '../../../src/ports/store/shape.ts'

const id: Shape = { kind: 'id', idType: 'objectId' }
const shape: ObjectShape = {
  kind: 'object',
  fields: new Map<string, Shape>([
    ['_id', id],
    ['name', { kind: 'string' }],
    ['age', { kind: 'number' }],
    ['any', { kind: 'mixed' }],
    ['anys', { kind: 'list', element: { kind: 'mixed' } }],
    ['friends', { kind: 'list', element: id }],
    ['token', { kind: 'id', idType: 'uuid' }],
    [
      'homes',
      {
        kind: 'list',
        element: { kind: 'object', fields: new Map([['note', { kind: 'mixed' }]]) },
      },
    ],
  ]),
}
const hex = 'abcdefabcdefabcdefabcdef'
const none = { _id: { $in: [] } }

const filters: [string, Filter, unknown][] = [
  ['everything', everything, {}],
  ['nothing', nothing, none],
  ['one of one', { op: 'or', filters: [nothing] }, none],
  ['both', { op: 'and', filters: [nothing, everything] }, { $and: [none, {}] }],
  ['a value', { op: 'eq', field: 'age', value: 1 }, { age: { $eq: 1 } }],
  ['null', { op: 'eq', field: 'age', value: null }, { age: { $eq: null } }],
  ['another value', { op: 'ne', field: 'age', value: 1 }, { $nor: [{ age: { $eq: 1 } }] }],
  ['a range', { op: 'lte', field: 'age', value: 1 }, { age: { $lte: 1 } }],
  ['a range of null', { op: 'gte', field: 'age', value: null }, none],
  ['one of many', { op: 'in', field: 'age', values: [1, null] }, { age: { $in: [1, null] } }],
  ['one of none', { op: 'in', field: 'age', values: [] }, none],
  ['none of none', { op: 'nin', field: 'age', values: [] }, { $nor: [none] }],
  [
    'text that looks like an operator',
    { op: 'eq', field: 'name', value: '$where' },
    { name: { $eq: '$where' } },
  ],
  ['text that no document can hold', { op: 'eq', field: 'name', value: '\ud800' }, none],
  [
    'texts of which one cannot be held',
    { op: 'in', field: 'name', values: ['a', '\udfff'] },
    { name: { $eq: 'a' } },
  ],
  ['an ObjectId', { op: 'eq', field: '_id', value: hex }, { _id: { $eq: new ObjectId(hex) } }],
  [
    'an ObjectId in a list',
    { op: 'eq', field: 'friends', value: hex },
    { friends: { $eq: new ObjectId(hex) } },
  ],
  ['an id that is none', { op: 'eq', field: '_id', value: 'x' }, { _id: { $eq: 'x' } }],
  ['a UUID', { op: 'eq', field: 'token', value: hex }, { token: { $eq: hex } }],
  [
    'a mixed value, but no list of it',
    { op: 'eq', field: 'any', value: 1 },
    { any: { $eq: 1, $not: { $type: 'array' } } },
  ],
  ['an element of a mixed list', { op: 'eq', field: 'anys', value: 1 }, { anys: { $eq: 1 } }],
  [
    'a mixed value inside a list',
    { op: 'gt', field: 'homes.note', value: 1 },
    { homes: { $elemMatch: { note: { $gt: 1, $not: { $type: 'array' } } } } },
  ],
  [
    'a search',
    { op: 'contains', field: 'name', text: 'A.k' },
    { name: { $regex: '[aA]\\.[kK\u212a]' } },
  ],
  ['a search for what cannot be held', { op: 'contains', field: 'name', text: '\ud800' }, none],
  [
    'a pattern',
    { op: 'matches', field: 'name', pattern: '^a\0' },
    { name: { $regex: '^a\\x00', $options: 'i' } },
  ],
]

describe('compileFilter', () => {
  it.each(filters)('writes %s', (_, filter, query) => {
    expect(compileFilter(filter, shape)).toEqual(query)
  })

  it('refuses a field that the model does not have', () => {
    const filter = { op: 'eq', field: '$where', value: 1 } as const
    expect(() => compileFilter(filter, shape)).toThrow(TypeError)
  })
})
