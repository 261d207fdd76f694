import { describe, expect, test } from 'vitest'
import { EVERY, expectRefused, names, open } from './shop.ts'

const DAYS = ['2024-01-01', '2024-01-15', '2024-02-01', '2024-02-02'] as const
const ID = (digit: number) => `${digit}`.repeat(24)

const ITEMS = [
  { name: '1', size: 1, at: new Date(DAYS[0]), marks: [1, 9], note: '1', maker: ID(1), any: 1 },
  { name: '2', size: 2, at: new Date(DAYS[1]), marks: [4], note: '10', maker: ID(2), any: 2 },
  { name: '3', size: 3.5, at: new Date(DAYS[2]), note: '9', done: true, any: '2' },
  { name: '4', size: -4, at: new Date(DAYS[3]), place: { row: 2 }, done: false, any: true },
  { name: '5', size: null, at: null, stops: [{ km: 2, city: 'a' }], any: null },
  { name: '6' },
] as const

const FILTERABLE = EVERY.filter((name) => name !== 'kind')
const opened = (options = {}) =>
  open({ query: ['kind'], filterableFields: FILTERABLE, ...options }, ITEMS as never)

describe('4.1 GET list parameters, rangeField + range', () => {
  test.each([
    ['size', '1-2', ['1', '2'], 'inclusive at both ends'],
    ['size', '2-', ['2', '3'], 'without an upper bound'],
    ['size', '-2', ['1', '2', '4'], 'without a lower bound: not minus two'],
    ['size', '1.5-3.5', ['2', '3'], 'fractions'],
    ['size', '1e0-2E0', ['1', '2'], 'exponents'],
    ['size', '2-1', [], 'answers: min above max matches nothing'],
    ['size', '2-2', ['2'], 'one value'],
    ['marks', '3-5', ['1', '2'], 'on a list one element must lie above and one below'],
    ['marks', '9-', ['1'], 'half-open on a list'],
    ['place.row', '1-3', ['4'], 'answers: a dotted name'],
    ['stops.km', '2-2', ['5'], 'through a list of objects'],
    ['note', '1-9', ['1', '2', '3'], 'a text compares as the text that was sent'],
    ['done', '0-1', ['3', '4'], 'booleans, false before true'],
    ['done', '1-', ['3'], 'booleans'],
    ['any', '1-5', ['1', '2'], 'rule 1: bounds are numbers where the field has no type'],
    ['maker', `${ID(1)}-${ID(1)}`, ['1'], 'ids of digits alone'],
  ])('?rangeField=%s&range=%s finds %j: %s', async (rangeField, range, found) => {
    const { list } = await opened()
    expect(names(await list({ rangeField, range }))).toEqual(found)
  })

  test.each([
    ['2024-01-01..2024-02-01', ['1', '2', '3']],
    ['2024-01-02..', ['2', '3', '4']],
    ['..2024-01-31T23:59:59.999Z', ['1', '2']],
    ['2024-01-15T00:00:00+01:00..2024-01-15T00:00:00Z', ['2']],
    ['2024..2024-01', ['1']],
    ['2024-02-01..2024-01-01', []],
    [`${Date.parse(DAYS[1])}-${Date.parse(DAYS[2])}`, ['2', '3']],
    [`${Date.parse(DAYS[2])}-`, ['3', '4']],
    [`-${Date.parse(DAYS[0])}`, ['1']],
    [`${Date.parse(DAYS[1])}..`, ['2', '3', '4']],
    ['..', ['1', '2', '3', '4', '5', '6']],
  ])('answers: date fields also take range=%s', async (range, found) => {
    const { list } = await opened()
    expect(names(await list({ rangeField: 'at', range }))).toEqual(found)
  })

  test.each([
    'abc-def',
    '10-abc',
    'abc-10',
    '50',
    '1-2-3',
    '-1-2',
    '1--2',
    '--',
    'x',
    ' 1-2',
    '1-2 ',
    '1..2',
    '1–2',
    '0x1-0x2',
    '1-1e309',
    '1e-1-2',
  ])('answers: an unparsable range is a 400: %j', async (range) => {
    const shop = await opened()
    expectRefused(shop, await shop.list({ rangeField: 'size', range }), 'Invalid range.')
  })

  test.each([
    '2024-01-01',
    '2024-01-01..2024-13-01',
    'a..b',
    '1..2..3',
    '2024-01-01...2024-02-01',
    '2024-01-01-2024-02-01',
  ])('answers: an unparsable range of dates is a 400: %j', async (range) => {
    const shop = await opened()
    expectRefused(shop, await shop.list({ rangeField: 'at', range }), 'Invalid range.')
  })

  test('answers: a repeated range is a 400', async () => {
    const shop = await opened()
    expectRefused(shop, await shop.list('rangeField=size&range=1-2&range=3-4'), 'Invalid range.')
  })

  test('bounds that the field cannot hold are a 400', async () => {
    const shop = await opened()
    expectRefused(shop, await shop.list('rangeField=maker&range=1-2'), 'Invalid range.')
    expectRefused(shop, await shop.list('rangeField=done&range=2-3'), 'Invalid range.')
  })

  test.each(['', '-'])('answers: range=%j, both bounds empty, is ignored', async (range) => {
    const { list } = await opened()
    expect(names(await list({ rangeField: 'size', range }))).toHaveLength(6)
  })

  test('answers: rangeField without range, or the reverse, is ignored', async () => {
    const { list } = await opened()
    for (const query of [
      'rangeField=size',
      'rangeField=nope',
      'range=1-2',
      'rangeField=&range=1-2',
    ]) {
      expect(names(await list(query))).toHaveLength(6)
    }
  })

  test.each([
    ['kind', 'kind'],
    ['secret', 'secret'],
    ['nope', 'nope'],
    ['size ', 'size '],
    ['SIZE', 'SIZE'],
    ['__proto__', '__proto__'],
    ['$where', '$where'],
    ['place', 'place'],
  ])('a field outside filterableFields is a 400 naming it: %j', async (rangeField, named) => {
    const shop = await opened()
    const error = `Field '${named}' is not filterable.`
    expectRefused(shop, await shop.list({ rangeField, range: '1-2' }), error)
  })
})

describe('4.1 GET list parameters, compareField + compareOperator + compareValue', () => {
  test.each([
    ['size', 'eq', '2', ['2']],
    ['size', 'ne', '2', ['1', '3', '4', '5', '6']],
    ['size', 'gt', '2', ['3']],
    ['size', 'gte', '2', ['2', '3']],
    ['size', 'lt', '1', ['4']],
    ['size', 'lte', '1', ['1', '4']],
    ['size', 'lt', '-3.5', ['4']],
    ['size', 'gt', '-5', ['1', '2', '3', '4']],
    ['at', 'gt', DAYS[1], ['3', '4']],
    ['at', 'lte', String(Date.parse(DAYS[1])), ['1', '2']],
    ['at', 'ne', DAYS[1], ['1', '3', '4', '5', '6']],
    ['note', 'eq', '10', ['2']],
    ['note', 'gt', '10', ['3']],
    ['note', 'lt', '9', ['1', '2']],
    ['note', 'ne', '1', ['2', '3', '4', '5', '6']],
    ['done', 'gt', 'false', ['3']],
    ['done', 'lte', 'no', ['4']],
    ['maker', 'gt', ID(1), ['2']],
    ['marks', 'gt', '8', ['1']],
    ['marks', 'ne', '4', ['1', '3', '4', '5', '6']],
    ['place.row', 'gte', '2', ['4']],
    ['any', 'eq', '2', ['2']],
    ['any', 'gte', '1', ['1', '2']],
    ['any', 'ne', '2', ['1', '3', '4', '5', '6']],
  ])('compareField=%s, %s %j', async (compareField, compareOperator, compareValue, found) => {
    const { list } = await opened()
    const answer = await list({ compareField, compareOperator, compareValue })
    expect(names(answer)).toEqual(found)
  })

  test('eq is the default operator; answers: an empty one is eq', async () => {
    const { list } = await opened()
    expect(names(await list('compareField=size&compareValue=2'))).toEqual(['2'])
    expect(names(await list('compareField=size&compareOperator=&compareValue=2'))).toEqual(['2'])
  })

  test('answers: gt, gte, lt and lte never match null or missing, ne keeps them', async () => {
    const { list } = await opened()
    for (const operator of ['gt', 'gte', 'lt', 'lte']) {
      const none = `compareField=size&compareOperator=${operator}&compareValue=`
      expect(names(await list(none))).toEqual([])
    }
    expect(names(await list('compareField=size&compareValue='))).toEqual(['5', '6'])
    expect(names(await list('compareField=size&compareOperator=ne&compareValue='))).toHaveLength(4)
  })

  test('answers: compareField without compareValue, or the reverse, is ignored', async () => {
    const { list } = await opened()
    for (const query of [
      'compareField=size',
      'compareField=nope',
      'compareField=size&compareOperator=nope',
      'compareValue=2',
      'compareOperator=gt&compareValue=2',
    ]) {
      expect(names(await list(query))).toHaveLength(6)
    }
  })

  test.each(['in', 'nin', 'GT', '$gt', 'like', 'constructor', '__proto__', 'toString', ' gt', "'"])(
    'answers: the unknown operator %j is a 400',
    async (compareOperator) => {
      const shop = await opened()
      const answer = await shop.list({ compareField: 'size', compareOperator, compareValue: '2' })
      expectRefused(shop, answer, `Unknown compareOperator '${compareOperator}'.`)
    },
  )

  test('a field outside filterableFields is a 400 naming it', async () => {
    const shop = await opened()
    for (const field of ['kind', 'nope', 'secret', 'vault.pin', 'stops']) {
      const error = `Field '${field}' is not filterable.`
      expectRefused(shop, await shop.list({ compareField: field, compareValue: '1' }), error)
    }
  })

  test('answers: a repeated compareValue is a 400', async () => {
    const shop = await opened()
    const answer = await shop.list('compareField=size&compareValue=1&compareValue=2')
    expectRefused(shop, answer, 'Invalid compareValue.')
  })

  test('a value that the field cannot hold is a 400', async () => {
    const shop = await opened()
    const error = 'Invalid value for size.'
    expectRefused(shop, await shop.list('compareField=size&compareValue=x'), error)
  })
})

describe('4.1 GET list parameters, rule 2 and 8 Limits: one range and one compare per request', () => {
  test('a repeated rangeField or compareField is a 400', async () => {
    const shop = await opened()
    const ranges = await shop.list('rangeField=size&rangeField=at&range=1-2')
    expectRefused(shop, ranges, "'rangeField' must be a single field name.")
    const compares = await shop.list('compareField=size&compareField=at&compareValue=1')
    expectRefused(shop, compares, "'compareField' must be a single field name.")
    const operators = 'compareField=size&compareValue=1&compareOperator=gt&compareOperator=lt'
    expectRefused(shop, await shop.list(operators), "Unknown compareOperator 'gt,lt'.")
  })
})

describe('answers, GET list: equality, range and compare on the same field are ANDed', () => {
  test.each([
    ['size=1&size=2&size=3.5&rangeField=size&range=2-9', ['2', '3']],
    ['rangeField=size&range=1-3&compareField=size&compareOperator=ne&compareValue=2', ['1']],
    ['size=2&compareField=size&compareOperator=gt&compareValue=2', []],
    ['size=1&size=2&rangeField=size&range=-1&compareField=size&compareValue=1', ['1']],
  ])('%s', async (query, found) => {
    const { list } = await opened({ query: ['size'] })
    expect(names(await list(query))).toEqual(found)
  })
})
