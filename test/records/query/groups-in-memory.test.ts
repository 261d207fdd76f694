import { expect, it } from 'vitest'
import { aggregateRecords } from '../../../src/ports/evaluation/aggregate-records.ts'
import type { AggregateRead } from '../../../src/ports/store/aggregate.ts'
import { everything } from '../../../src/ports/store/filter.ts'
import type { ObjectShape, Shape } from '../../../src/ports/store/shape.ts'

it('groups in memory are in the order of the store: of ids that are integers by number', async () => {
  const id: Shape = { kind: 'id', idType: 'integer' }
  const fields = { _id: id, land: id }
  const shape: ObjectShape = { kind: 'object', fields: new Map(Object.entries(fields)) }
  const find = async () => ['10', '9', '-3', '9'].map((land, at) => ({ _id: `${at}`, land }))
  const read: AggregateRead = {
    filter: everything,
    by: [{ field: 'land' }],
    measures: [{ op: 'count' }],
    sort: [{ column: 0, descending: true }],
    limit: 2,
  }
  const asNumbers = { shape, numericIds: true }
  expect(await aggregateRecords(find, read, asNumbers)).toEqual([
    ['10', 1],
    ['9', 2],
  ])
  expect(await aggregateRecords(find, read, { shape })).toEqual([
    ['9', 2],
    ['10', 1],
  ])
})
