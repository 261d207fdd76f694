import { describe, expect, it } from 'vitest'
import { restAfter } from '../../../adapters/stores/mongodb/query/filter.ts'
import { everything, type Filter, type Scalar } from '../../../src/ports/filter.ts'

const unset: Filter = { op: 'eq', field: 'age', value: null }
const tie: Filter = { op: 'eq', field: 'age', value: 1 }
const byId: Filter = { op: 'gt', field: '_id', value: 'x' }

const positions: [string, boolean, Scalar, Filter[]][] = [
  ['a value, ascending', false, 1, [and(tie, byId), { op: 'gt', field: 'age', value: 1 }]],
  ['null, ascending', false, null, [and(unset, byId), { op: 'ne', field: 'age', value: null }]],
  ['a value, descending', true, 1, [and(tie, byId), { op: 'lt', field: 'age', value: 1 }, unset]],
  ['null, descending', true, null, [and(unset, byId)]],
]

function and(...filters: Filter[]): Filter {
  return { op: 'and', filters }
}

describe('restAfter', () => {
  it.each(positions)('is what comes later than %s', (_, descending, value, parts) => {
    const sort = [
      { field: 'age', descending },
      { field: '_id', descending: false },
    ]
    const [only] = parts
    const expected = parts.length === 1 ? only : { op: 'or', filters: parts }
    expect(restAfter(everything, sort, [value, 'x'])).toEqual(expected)
  })

  it('holds the filter in each part', () => {
    const filter: Filter = { op: 'eq', field: 'name', value: 'a' }
    const sort = [
      { field: 'age', descending: true },
      { field: '_id', descending: true },
    ]
    const rest = restAfter(filter, sort, [1, 'x'])
    expect(rest).toMatchObject({ op: 'or' })
    for (const part of 'filters' in rest ? rest.filters : []) {
      expect(part).toMatchObject({ filters: expect.arrayContaining([filter]) })
    }
  })
})
