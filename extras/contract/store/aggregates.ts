/** The promises about aggregates. A store without them is not asked. */

import { aggregateRecords } from '../../../src/ports/evaluation/aggregate-records.ts'
import {
  type AggregateRead,
  type DatePart,
  type GroupKey,
  type Measure,
  roundedMeasure,
} from '../../../src/ports/store/aggregate.ts'
import { everything, type Scalar } from '../../../src/ports/store/filter.ts'
import type { Fields } from '../../../src/ports/store/records.ts'
import type { Collection, Store } from '../../../src/ports/store/store.ts'
import { deepEqual } from '../assert.ts'
import type { Contract } from '../verify.ts'
import { among, containing, holding, where } from './ask.ts'
import { people as schema } from './people.ts'
import { Random, randomFields, randomFilter } from './random.ts'

const MEASURES = ['sum', 'avg', 'min', 'max'] as const

/** `age`, `born:month`; measures as `sum age`. Sorted by the keys unless `sort` names columns: `-1` is descending. */
function asking(by: string, measures: string, more: Partial<AggregateRead> = {}): AggregateRead {
  const keys = namesIn(by).map((name): GroupKey => {
    const [field = '', part] = name.split(':')
    return part === undefined ? { field } : { field, part: part as DatePart }
  })
  return {
    filter: everything,
    by: keys,
    measures: namesIn(measures, ', ').map((text): Measure => {
      const [op, field = ''] = text.split(' ')
      return op === 'count' ? { op } : { op: op as 'sum', field }
    }),
    sort: keys.map((_, column) => ({ column, descending: false })),
    limit: 1000,
    ...more,
  }
}

function namesIn(text: string, separator = ' '): string[] {
  return text === '' ? [] : text.split(separator)
}

/** The rows, measures as they are shown. */
async function rowsOf(collection: Collection, read: AggregateRead): Promise<unknown[][]> {
  const rows = (await collection.aggregate?.(read)) ?? []
  return rows.map((row) => shown(row, read))
}

function shown(row: readonly Scalar[], { by, measures }: AggregateRead): unknown[] {
  return row.map((value, at) => {
    const { op } = measures[at - by.length] ?? {}
    return op && typeof value === 'number' ? roundedMeasure(op, value) : value
  })
}

/** A promise that is kept if the store has aggregates and `check` passes for a collection with `records`. */
function promise(
  records: readonly Fields[],
  check: (people: Collection) => Promise<void>,
): (store: Store) => Promise<void> {
  return async (store) => {
    const people = await holding(store, ...records)
    if (people.aggregate) await check(people)
  }
}

const DAY = 86_400_000
const big = 2 ** 53

/** The promises one by one, and random aggregates. */
export const aggregates: Contract<Store> = {
  'groups are told apart by their values; null and missing are one group, shown as null': promise(
    [
      { name: 'b', age: 1, member: true },
      { name: 'a', age: null, member: false },
      { age: 2, member: true },
      { name: 'b', member: true },
      { name: '', age: 0.1 },
    ],
    async (people) => {
      deepEqual(await rowsOf(people, asking('name', 'count')), [
        [null, 1],
        ['', 1],
        ['a', 1],
        ['b', 2],
      ])
      deepEqual(await rowsOf(people, asking('age', 'count')), [
        [null, 2],
        [0.1, 1],
        [1, 1],
        [2, 1],
      ])
      deepEqual(await rowsOf(people, asking('member name', 'count, sum age')), [
        [null, '', 1, 0.1],
        [false, 'a', 1, 0],
        [true, null, 1, 2],
        [true, 'b', 2, 1],
      ])
    },
  ),
  'dates are grouped by their value, or by the day, month or year in UTC': promise(
    ['0000-12-31T23:59:59.999Z', '2024-02-29T23:59:59.999Z', '2024-03-01T00:00:00.000Z'].flatMap(
      (iso) => [
        { born: new Date(iso), address: { since: new Date(iso) } },
        { born: new Date(iso), address: {} },
      ],
    ),
    async (people) => {
      deepEqual(await rowsOf(people, asking('born', 'count')), [
        [new Date('0000-12-31T23:59:59.999Z'), 2],
        [new Date('2024-02-29T23:59:59.999Z'), 2],
        [new Date('2024-03-01T00:00:00.000Z'), 2],
      ])
      deepEqual(await rowsOf(people, asking('born:year born:month', 'count')), [
        ['0000', '0000-12', 2],
        ['2024', '2024-02', 2],
        ['2024', '2024-03', 2],
      ])
      deepEqual(await rowsOf(people, asking('address.since:day', 'count')), [
        [null, 3],
        ['0000-12-31', 1],
        ['2024-02-29', 1],
        ['2024-03-01', 1],
      ])
    },
  ),
  'without keys there is one row; over nothing the count and the sum are 0, the others null':
    promise([{ age: 1, born: new Date(DAY) }, { born: new Date(0) }], async (people) => {
      const measures = 'count, sum age, avg age, min age, max age, min born, max born'
      const read = asking('', measures)
      deepEqual(await rowsOf(people, read), [[2, 1, 1, 1, 1, new Date(0), new Date(DAY)]])
      const none = { ...read, filter: where('age', 'gt', 1) }
      deepEqual(await rowsOf(people, none), [[0, 0, null, null, null, null, null]])
      const alone = { ...read, filter: where('age', 'eq', null) }
      deepEqual(await rowsOf(people, alone), [[1, 0, null, null, null, new Date(0), new Date(0)]])
      deepEqual(await rowsOf(people, { ...asking('age', 'count'), filter: none.filter }), [])
    }),
  'sums of whole numbers are exact up to 2^53, whatever is added in between': promise(
    [big - 1, 1, big, -big, big - 3, 3 - big].map((score) => ({ score })),
    async (people) => {
      deepEqual(await rowsOf(people, asking('', 'sum score, max score')), [[big, big]])
      const two = among('score', 'in', big - 1, big - 3)
      deepEqual(await rowsOf(people, { ...asking('', 'sum score'), filter: two }), [
        [roundedMeasure('sum', 2 * big - 4)],
      ])
    },
  ),
  'rows sort by any column: null first, strings by code point, numbers as they are shown': promise(
    [
      { name: 'a', score: 0.3 },
      { name: '\uffff', score: 0.1 },
      { name: '\uffff', score: 0.2 },
      { name: '😀', score: 0.3 },
      { name: 'B' },
      { score: -1 },
    ],
    async (people) => {
      const sorted = async (...sort: readonly (readonly [number, boolean])[]) => {
        const order = sort.map(([column, descending]) => ({ column, descending }))
        const rows = await rowsOf(
          people,
          asking('name', 'count, avg score, sum score', { sort: order }),
        )
        return rows.map(([name]) => name ?? 'null').join(' ')
      }
      deepEqual(await sorted([0, false]), 'null B a \uffff 😀')
      deepEqual(await sorted([0, true]), '😀 \uffff a B null')
      deepEqual(await sorted([1, true], [0, false]), '\uffff null B a 😀')
      deepEqual(await sorted([2, false], [0, true]), 'B null \uffff 😀 a')
      // 0.1 and 0.2 are more than 0.3 to a processor.
      deepEqual(await sorted([3, true], [0, false]), 'a \uffff 😀 B null')
      deepEqual(await sorted([3, true], [0, true]), '😀 \uffff a B null')
    },
  ),
  'sums of fractions beside large numbers have the 12 digits that are shown': promise(
    [{ score: 123456789012345.5 }, { score: 0 }, { name: 'a', score: -123456789012345.6 }],
    async (people) => {
      const rows = await rowsOf(people, asking('name', 'count, sum score, avg score'))
      deepEqual(rows, [
        [null, 2, 123456789012000, 61728394506200],
        ['a', 1, -123456789012000, -123456789012000],
      ])
    },
  ),
  'rows sort by numbers as small as there are': promise(
    [
      { name: 'a', score: 1e-319 },
      { name: 'a', score: 1e-319 },
      { name: 'b', score: Number.MIN_VALUE },
      { name: 'c', score: -1e-319 },
      { name: 'd', score: 1e-310 },
    ],
    async (people) => {
      for (const op of ['sum', 'avg', 'min']) {
        const sort = [{ column: 1, descending: true }]
        const rows = await rowsOf(people, asking('name', `${op} score`, { sort }))
        deepEqual(rows.map(([name]) => name).join(' '), 'd a b c')
      }
    },
  ),
  'a sum beyond all numbers is null, and sorts as that': promise(
    [
      { name: 'a', score: -1 },
      ...['b', 'b', 'd'].map((name) => ({ name, score: 1.5e308 })),
      ...['c', 'c'].map((name) => ({ name, score: -1.5e308 })),
    ],
    async (people) => {
      const sorted = (descending: boolean) => {
        const sort = [
          { column: 1, descending },
          { column: 0, descending: false },
        ]
        return rowsOf(people, asking('name', 'sum score', { sort }))
      }
      const beyond = [
        ['b', null],
        ['c', null],
      ]
      deepEqual(await sorted(false), [...beyond, ['a', -1], ['d', 1.5e308]])
      deepEqual(await sorted(true), [['d', 1.5e308], ['a', -1], ...beyond])
    },
  ),
  'the limit cuts the rows, after they have been sorted': promise(
    ['c', 'a', 'b', 'b'].map((name) => ({ name })),
    async (people) => {
      const sort = [
        { column: 1, descending: true },
        { column: 0, descending: false },
      ]
      const read = asking('name', 'count', { sort })
      deepEqual(await rowsOf(people, { ...read, limit: 2 }), [
        ['b', 2],
        ['a', 1],
      ])
    },
  ),
  'a filter that searches is followed': promise(
    [{ name: 'Élan', tags: ['x'] }, { name: 'élan' }, { name: 'other', tags: ['ÉLAN!'] }],
    async (people) => {
      const read = { ...asking('name', 'count'), filter: containing('name', 'ÉLA') }
      deepEqual(await rowsOf(people, read), [
        ['Élan', 1],
        ['élan', 1],
      ])
    },
  ),
  'random aggregates are answered as by one that reads every record': async (store) => {
    const random = new Random(7)
    const unique = { email: undefined, tenant: undefined, slug: undefined }
    const records = Array.from({ length: 120 }, () => ({ ...randomFields(random), ...unique }))
    const people = await holding(store, ...records)
    if (!people.aggregate) return
    for (let at = 0; at < 150; at += 1) {
      const read = randomAggregate(random)
      const expected = await aggregateRecords((one) => people.find(one), read, schema)
      deepEqual(
        await rowsOf(people, read),
        expected.map((row) => shown(row, read)),
        JSON.stringify(read),
      )
    }
  },
}

const KEYS = [
  ...(['name', 'age', 'score', 'member', 'born', 'friend', 'address.city'] as const),
  ...(['born:day', 'born:month', 'born:year', 'address.since', 'address.since:month'] as const),
] as const

function randomAggregate(random: Random): AggregateRead {
  const by = [...new Set(random.list(3, () => random.of(KEYS)))].join(' ')
  const measures = random.list(3, () =>
    random.chance(25)
      ? `${random.of(['min', 'max'] as const)} ${random.of(['born', 'address.since'] as const)}`
      : `${random.of(MEASURES)} ${random.of(['age', 'score'] as const)}`,
  )
  const read = asking(by, [...new Set(['count', ...measures])].join(', '))
  const columns = read.by.length + read.measures.length
  const first = random.list(2, () => ({
    column: random.below(columns),
    descending: random.chance(50),
  }))
  const sort = [...new Map([...first, ...read.sort].map((one) => [one.column, one])).values()]
  return { ...read, sort, filter: randomFilter(random), limit: random.chance(30) ? 3 : 1000 }
}
