import { describe, expect, test } from 'vitest'
import { HttpError } from '../../../src/index.ts'
import { EVERY, expectRefused, names, open } from './shop.ts'

const ITEMS = [
  { name: 'a', kind: 'cup', size: 1, tags: ['x', 'y'], place: { row: 1, city: 'Oslo' } },
  { name: 'b', kind: 'cup', size: 2, tags: ['y'], place: { row: 2, city: 'Rome' } },
  { name: 'c', kind: 'jug', size: 2, tags: [], place: { row: null } },
  { name: 'd', kind: null, size: null, stops: [{ km: 1, city: 'Oslo' }] },
  {
    name: '',
    stops: [
      { km: 2, city: 'Rome' },
      { km: 3, city: 'Oslo' },
    ],
  },
] as const

const opened = (options = {}) =>
  open({ query: EVERY, search: ['name'], ...options }, ITEMS as never)

describe('4.1 GET list parameters, <field>: equality', () => {
  test('?category=<value> keeps the records with that value', async () => {
    const { list } = await opened()
    expect(names(await list('kind=cup'))).toEqual(['a', 'b'])
    expect(names(await list('kind=jug'))).toEqual(['c'])
    expect(names(await list('kind=pot'))).toEqual([])
  })

  test('repeat the parameter for any-of', async () => {
    const { list } = await opened()
    expect(names(await list('kind=cup&kind=jug'))).toEqual(['a', 'b', 'c'])
    expect(names(await list('size=1&size=9'))).toEqual(['a'])
    expect(names(await list('size=1&size=1'))).toEqual(['a'])
    expect(names(await list('size=&size=1'))).toEqual(['a', 'd', ''])
  })

  test('several fields combine with AND', async () => {
    const { list } = await opened()
    expect(names(await list('kind=cup&size=2'))).toEqual(['b'])
    expect(names(await list('kind=cup&kind=jug&size=2&name=c'))).toEqual(['c'])
    expect(names(await list('kind=jug&size=1'))).toEqual([])
  })

  test('a field that `query` does not list is ignored, whatever it says', async () => {
    const { list, store } = await opened({ query: ['kind'], filterableFields: ['size'] })
    store.taken()
    for (const query of [
      'size=1',
      'nothing=1',
      'name=a&name=b',
      'secret=x',
      'size=abc',
      '$where=1',
    ]) {
      expect(names(await list(query))).toHaveLength(5)
    }
    const [plain, ...others] = store.calls.map(({ argument }) => ({ ...argument, hints: {} }))
    for (const other of others) expect(other).toEqual(plain)
  })

  test('dotted names may stand in `query` for nested fields, through lists of objects too', async () => {
    const { list } = await opened()
    expect(names(await list('place.city=Oslo'))).toEqual(['a'])
    expect(names(await list('place.row=2'))).toEqual(['b'])
    expect(names(await list('place.row='))).toEqual(['c', 'd', ''])
    expect(names(await list('stops.city=Oslo'))).toEqual(['d', ''])
    expect(names(await list('stops.km=2&stops.city=Oslo'))).toEqual([''])
  })

  test('answers: a filter on a list field matches when one element matches', async () => {
    const { list } = await opened()
    expect(names(await list('tags=y'))).toEqual(['a', 'b'])
    expect(names(await list('tags=x&tags=y'))).toEqual(['a', 'b'])
    expect(names(await list('tags=z'))).toEqual([])
  })

  test('answers: ?f= on a string field matches the empty string, on others null or missing', async () => {
    const { list } = await opened()
    expect(names(await list('name='))).toEqual([''])
    expect(names(await list('note='))).toEqual([])
    for (const field of ['done', 'at', 'maker']) {
      expect(names(await list(`${field}=`))).toHaveLength(5)
    }
    expect(names(await list('size='))).toEqual(['d', ''])
  })

  test('answers: a value outside an enum matches nothing', async () => {
    const { list, ask } = await opened()
    expect(names(await list('kind=vase'))).toEqual([])
    expect(names(await list('kind=vase&kind=jug'))).toEqual(['c'])
    expect(names(await ask({ filter: { kind: 'vase' } }))).toEqual([])
  })

  test('8 Limits, answers: a repeated parameter takes at most 100 values', async () => {
    const shop = await opened()
    const repeated = (times: number) => new Array(times).fill('size=2').join('&')
    expect(names(await shop.list(repeated(100)))).toEqual(['b', 'c'])
    shop.store.taken()
    expectRefused(shop, await shop.list(repeated(101)), "Filter 'size' exceeds 100 values.")
    expectRefused(shop, await shop.list(repeated(10_000)), "Filter 'size' exceeds 100 values.")
  })
})

describe('4.1 GET list parameters, rule 3: object-shaped values are a 400', () => {
  test.each([
    ['price[$ne]=0', 'price'],
    ['size[$ne]=0', 'size'],
    ['size[]=1', 'size'],
    ['size[0]=1', 'size'],
    ['size%5B%24ne%5D=0', 'size'],
    ['size%5B$ne%5D', 'size'],
    ['size[gt][lt]=1', 'size'],
    ['size[', 'size'],
    ['nothing[a]=1', 'nothing'],
    ['filter[$or][0][size]=1', 'filter'],
    ['page[]=1', 'page'],
    ['pageSize[x]=1', 'pageSize'],
    ['cursor[]=x', 'cursor'],
    ['range[]=1-2', 'range'],
    ['rangeField[]=size', 'rangeField'],
    ['compareField[$ne]=size', 'compareField'],
    ['compareOperator[]=gt', 'compareOperator'],
    ['__proto__[size]=1', '__proto__'],
    ['constructor[prototype][x]=1', 'constructor'],
  ])("?%s: Invalid value for filter '%s'.", async (query, field) => {
    const shop = await opened()
    const answer = await shop.send('GET', `/items?${query}`)
    expectRefused(shop, answer, `Invalid value for filter '${field}'.`)
    const beside = await shop.send('GET', `/items?kind=cup&${query}&page=1`)
    expectRefused(shop, beside, `Invalid value for filter '${field}'.`)
  })

  test.each([
    ['s[]=a', 'Search term must be a string.'],
    ['search[$ne]=a', 'Search term must be a string.'],
    ['s=a&search[x]=a', 'Search term must be a string.'],
    ['sort[]=size', 'Sort must be a single field name.'],
    ['sort[size]=-1', 'Sort must be a single field name.'],
    ['compareValue[]=1', 'Invalid compareValue.'],
    ['compareField=size&compareValue[$gt]=1', 'Invalid compareValue.'],
  ])('answers: ?%s gives its own text', async (query, error) => {
    const shop = await opened()
    expectRefused(shop, await shop.send('GET', `/items?${query}`), error)
  })
})

describe('answers, GET list: order', () => {
  test.each([
    ['equality before range', 'size=x&rangeField=nothing&range=1-2', 'Invalid value for size.'],
    ['equality in the order of `query`', 'size=x&maker=x&done=x', 'Invalid value for size.'],
    ['… not of the URL', 'done=x&size=x', 'Invalid value for size.'],
    [
      'range before compare',
      'compareField=nope&compareValue=1&rangeField=nothing&range=1-2',
      "Field 'nothing' is not filterable.",
    ],
    [
      'compare before search',
      `s=${'x'.repeat(129)}&compareField=nope&compareValue=1`,
      "Field 'nope' is not filterable.",
    ],
    ['search before sort', `sort=nope&s=${'x'.repeat(129)}`, 'Search term exceeds 128 characters.'],
    ['sort before the paging mode', 'cursor=x&sort=nope', "Field 'nope' is not sortable."],
  ])('%s', async (_title, query, error) => {
    const shop = await opened()
    expectRefused(shop, await shop.list(query), error)
  })

  test('the paging mode before onGet, onGet before the store', async () => {
    const order: string[] = []
    const shop = await opened({
      onGet: () => {
        order.push('onGet', ...shop.store.taken())
        return undefined
      },
    })
    await shop.list('cursor=x')
    await shop.ask({ page: 1, cursor: 'x' })
    expect(order).toEqual([])
    await shop.list()
    expect(order).toEqual(['onGet'])
    expect(shop.store.taken()).toEqual(['items.findJson'])
  })

  test('guards come before everything that can be refused', async () => {
    const shop = await opened({
      middlewares: [
        () => {
          throw new HttpError(401, 'No.')
        },
      ],
    })
    expectRefused(shop, await shop.list('size=x&sort=nope&cursor=x'), 'No.', 401)
    expectRefused(shop, await shop.ask({ nope: 1 }), 'No.', 401)
  })
})
