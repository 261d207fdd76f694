import { describe, expect, test } from 'vitest'
import { EVERY, expectRefused, type ItemOptions, names, open } from './shop.ts'

const DAY = 86_400_000
const SORTABLE = [
  'size',
  'name',
  'at',
  'done',
  'kind',
  'maker',
  'note',
  'place.row',
  '_id',
] as const

/** In an order that no sort gives. */
const ITEMS = [
  { name: 'c', size: 2, at: new Date(DAY), done: true, kind: 'pot', place: { row: 3 } },
  { name: 'a', size: null, at: new Date(-DAY), done: false, kind: 'cup', place: { row: 1 } },
  { name: 'B', size: 10, at: null, place: { row: null } },
  { name: '\uffff', size: -1, done: null, kind: 'jug', place: null },
  { name: '😀', at: new Date(0), kind: null },
  { name: 'é', size: 2, place: { row: 2 } },
] as const

const opened = (options: ItemOptions = {}) =>
  open({ sortableFields: SORTABLE, ...options }, ITEMS as never)

describe('4.1 GET list parameters, sort: <field> or -<field>', () => {
  test.each([
    ['size', ['a', '😀', '\uffff', 'c', 'é', 'B']],
    ['-size', ['B', 'c', 'é', '\uffff', 'a', '😀']],
    ['name', ['B', 'a', 'c', 'é', '\uffff', '😀']],
    ['-name', ['😀', '\uffff', 'é', 'c', 'a', 'B']],
    ['at', ['B', '\uffff', 'é', 'a', '😀', 'c']],
    ['-at', ['c', '😀', 'a', 'B', '\uffff', 'é']],
    ['done', ['B', '\uffff', '😀', 'é', 'a', 'c']],
    ['-done', ['c', 'a', 'B', '\uffff', '😀', 'é']],
    ['kind', ['B', '😀', 'é', 'a', '\uffff', 'c']],
    ['place.row', ['B', '\uffff', '😀', 'a', 'é', 'c']],
    ['-place.row', ['c', 'é', 'a', 'B', '\uffff', '😀']],
    ['_id', ['c', 'a', 'B', '\uffff', '😀', 'é']],
    ['-_id', ['é', '😀', '\uffff', 'B', 'a', 'c']],
  ])(
    'answers: sort=%s: null and missing first ascending, last descending; texts by code point; ties by _id',
    async (sort, sorted) => {
      const { list, ask } = await opened()
      expect(names(await list({ sort }))).toEqual(sorted)
      expect(names(await ask({ sort }))).toEqual(sorted)
      expect(names(await ask({ sort: [sort] }))).toEqual(sorted)
      const pages = [
        await list({ sort, page: '1', pageSize: '4' }),
        await list({ sort, page: '2', pageSize: '4' }),
      ]
      expect(pages.flatMap(names)).toEqual(sorted)
    },
  )

  test.each([
    ['a field that is not listed', 'tags', 'tags'],
    ['one that is hidden', 'secret', 'secret'],
    ['one inside something hidden', 'vault.pin', 'vault.pin'],
    ['no field at all', 'nope', 'nope'],
    ['a dotted name that is not listed', 'place.city', 'place.city'],
    ['another case', 'Size', 'Size'],
    ['a blank behind', 'size ', 'size '],
    ['a blank before', ' size', ' size'],
    ['a plus', '+size', '+size'],
    ['a dash alone', '-', ''],
    ['two dashes', '--size', '-size'],
    ['two fields', 'size,name', 'size,name'],
    ['two fields with a blank', 'size name', 'size name'],
    ['a name of Object.prototype', 'constructor', 'constructor'],
    ['__proto__', '-__proto__', '__proto__'],
    ['SQL', 'size; DROP TABLE items', 'size; DROP TABLE items'],
    ['a NUL', 'size\u0000', 'size\u0000'],
    ['an operator', '$natural', '$natural'],
  ])('security, sorts: %s is a 400', async (_title, sort, field) => {
    const shop = await opened()
    const error = `Field '${field}' is not sortable.`
    expectRefused(shop, await shop.list({ sort }), error)
    expectRefused(shop, await shop.ask({ sort }), error)
    expectRefused(shop, await shop.ask({ sort: ['size', sort] }), error)
  })

  test('exactly one field; answers: repeated is a 400', async () => {
    const shop = await opened()
    const error = 'Sort must be a single field name.'
    expectRefused(shop, await shop.list('sort=size&sort=name'), error)
    expectRefused(shop, await shop.list('sort=size&sort=size'), error)
    expectRefused(shop, await shop.list('sort=&sort='), error)
  })
})

describe('4.1 GET list parameters, rule 6: without sort, the server\u2019s default order applies', () => {
  test('2.6 orderBy: a field, - for descending', async () => {
    const ascending = await opened({ orderBy: 'size' })
    expect(names(await ascending.list())).toEqual(['a', '😀', '\uffff', 'c', 'é', 'B'])
    const descending = await opened({ orderBy: '-name' })
    expect(names(await descending.list())).toEqual(['😀', '\uffff', 'é', 'c', 'a', 'B'])
    expect(names(await descending.ask())).toEqual(['😀', '\uffff', 'é', 'c', 'a', 'B'])
  })

  test('2.6 orderBy: several fields', async () => {
    const { list } = await opened({ orderBy: ['-size', '-name'] })
    expect(names(await list())).toEqual(['B', 'é', 'c', '\uffff', '😀', 'a'])
  })

  test('answers: ?sort= is the default order', async () => {
    const { list, ask } = await opened({ orderBy: '-name' })
    const sorted = ['😀', '\uffff', 'é', 'c', 'a', 'B']
    expect(names(await list('sort='))).toEqual(sorted)
    for (const sort of [[], '', null]) expect(names(await ask({ sort }))).toEqual(sorted)
  })

  test('a sort replaces the default order whole: ties are by _id, not by it', async () => {
    const { list } = await opened({ orderBy: '-name' })
    expect(names(await list('sort=-size'))).toEqual(['B', 'c', 'é', '\uffff', 'a', '😀'])
  })

  test('answers: unlisted, the order is that of _id', async () => {
    const { list } = await opened()
    expect(names(await list())).toEqual(ITEMS.map(({ name }) => name))
  })
})

describe('2.6 sortableFields: the query fields plus the orderBy field by default', () => {
  test('what they name may be sorted by, and nothing else', async () => {
    const shop = await open({ query: ['kind', 'tags'], orderBy: '-size' }, ITEMS as never)
    for (const sort of ['kind', '-kind', 'size', '-size']) {
      expect(names(await shop.list({ sort }))).toHaveLength(6)
    }
    shop.store.taken()
    for (const sort of ['name', '_id', 'tags']) {
      expectRefused(shop, await shop.list({ sort }), `Field '${sort}' is not sortable.`)
    }
  })

  test('a list replaces the default', async () => {
    const shop = await open({ query: ['kind'], orderBy: 'size', sortableFields: ['at'] })
    expect(names(await shop.list('sort=at'))).toEqual([])
    shop.store.taken()
    expectRefused(shop, await shop.list('sort=kind'), "Field 'kind' is not sortable.")
    expectRefused(shop, await shop.list('sort=size'), "Field 'size' is not sortable.")
  })
})

describe('answers, GET list: ties are ordered by _id as the last key in every mode', () => {
  const TIED = Array.from({ length: 30 }, (_, at) => ({
    name: String(at),
    size: at % 3,
    ...(at % 2 ? { kind: 'cup' as const } : {}),
  }))

  test.each(['exact', 'estimated', 'none'] as const)(
    'pages never overlap nor leave out: countStrategy %s',
    async (countStrategy) => {
      const { list } = await open({ query: EVERY, countStrategy }, TIED)
      for (const sort of ['size', '-size', 'kind', '-kind', '']) {
        const found: unknown[] = []
        for (let page = 1; page <= 5; page += 1) {
          found.push(...names(await list({ sort, page: String(page), pageSize: '7' })))
        }
        expect(found).toEqual(names(await list({ sort })))
        expect(new Set(found).size).toBe(30)
      }
    },
  )
})
