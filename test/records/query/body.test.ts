import { describe, expect, test } from 'vitest'
import { EVERY, type ItemOptions, type ItemValues, names, open, type Shop } from '../lists/shop.ts'

const JAN = new Date('2024-01-01')
const FEB = new Date('2024-02-01')
const ANN = '0123456789abcdef01234567'
const BOB = 'abcdef0123456789abcdef01'

const ITEMS: readonly Partial<ItemValues>[] = [
  { name: 'a', note: 'x', size: 1, done: true, at: JAN, kind: 'cup', maker: ANN, any: 1 },
  { name: 'b', note: '10', size: 2.5, done: false, at: FEB, kind: 'jug', maker: BOB, any: '1' },
  { name: 'c', note: null, size: null, done: null, at: null, kind: null, maker: null },
  { name: 'd' },
  { name: 'e', note: '', size: -3, tags: ['p', 'q'], marks: [1, 9], days: [JAN], makers: [ANN] },
  { name: 'f', note: 'X', size: 10, tags: [], marks: [5], makers: [ANN, BOB], any: true },
]
const fields = EVERY.filter((name) => !name.includes('.'))
const opened = (options: ItemOptions = {}): Promise<Shop> =>
  open(
    { query: fields, sortableFields: ['name', 'size', 'note', 'at'], search: ['name'], ...options },
    ITEMS,
  )

/** A filter, and the names of the items that meet it. */
type Case = readonly [filter: unknown, found: string]

describe('4.1 QUERY body, filter', () => {
  test.each<Case>([
    // A scalar means equals.
    [{ size: 1 }, 'a'],
    [{ note: 'x' }, 'a'],
    [{ note: '' }, 'e'],
    [{ done: false }, 'b'],
    [{ kind: 'jug' }, 'b'],
    [{ kind: 'vase' }, ''],
    [{ maker: ANN }, 'a'],
    [{ at: '2024-01-01' }, 'a'],
    [{ size: null }, 'cd'],
    [{ note: null }, 'cd'],
    // An array means any-of.
    [{ size: [1, 10, 99] }, 'af'],
    [{ size: [null, 1] }, 'acd'],
    [{ size: [1, 1, 1] }, 'a'],
    [{ tags: ['q', 'z'] }, 'e'],
    // An object maps operators to values, all of which hold.
    [{ size: { gte: 1, lt: 10 } }, 'ab'],
    [{ size: { gt: -3, ne: 1, in: [1, 10] } }, 'f'],
    [{ size: { eq: 1, ne: 1 } }, ''],
    // Several fields are ANDed.
    [{ size: { gt: 0 }, done: { ne: true } }, 'bf'],
    [{}, 'abcdef'],
  ])('Condition forms: %j finds %s', async (filter, found) => {
    const { ask } = await opened()
    expect(names(await ask({ filter })).join('')).toBe(found)
  })

  test.each<Case>([
    [{ size: { eq: 2.5 } }, 'b'],
    [{ size: { eq: null } }, 'cd'],
    [{ size: { ne: 1 } }, 'bcdef'],
    [{ size: { ne: null } }, 'abef'],
    [{ size: { gt: 1 } }, 'bf'],
    [{ size: { gte: 1 } }, 'abf'],
    [{ size: { lt: 1 } }, 'e'],
    [{ size: { lte: 1 } }, 'ae'],
    [{ size: { in: [-3, null] } }, 'cde'],
    [{ size: { nin: [-3, 10] } }, 'abcd'],
    [{ size: { nin: [-3, null] } }, 'abf'],
    [{ note: { gt: 'X' } }, 'a'],
    [{ note: { gte: '' } }, 'abef'],
    [{ note: { lt: 'X' } }, 'be'],
    [{ done: { ne: true } }, 'bcdef'],
    [{ done: { lt: true } }, 'b'],
    [{ at: { gte: '2024-01-15' } }, 'b'],
    [{ at: { lte: JAN.getTime() } }, 'a'],
    [{ kind: { nin: ['cup'] } }, 'bcdef'],
    [{ maker: { ne: ANN } }, 'bcdef'],
    [{ maker: { in: [ANN, BOB] } }, 'ab'],
    [{ tags: { eq: 'p' } }, 'e'],
    [{ tags: { ne: 'p' } }, 'abcdf'],
    [{ tags: { nin: ['p', 'z'] } }, 'abcdf'],
    [{ marks: { gt: 4 } }, 'ef'],
    [{ marks: { gt: 4, lt: 6 } }, 'ef'],
    [{ days: { lt: '2024-01-02' } }, 'e'],
    [{ makers: { eq: BOB } }, 'f'],
    [{ makers: { nin: [BOB] } }, 'abcde'],
  ])('Operators: %j finds %s', async (filter, found) => {
    const { ask } = await opened()
    expect(names(await ask({ filter })).join('')).toBe(found)
  })

  test.each(['gt', 'gte', 'lt', 'lte'])(
    'answers, GET list: %s never matches null or missing, nor does it with null',
    async (operator) => {
      const { ask } = await opened()
      for (const field of fields.filter((name) => name !== 'name')) {
        expect(names(await ask({ filter: { [field]: { [operator]: null } } }))).toEqual([])
      }
      const some = [-1e9, 1e9].map((bound) => ask({ filter: { size: { [operator]: bound } } }))
      for (const answer of await Promise.all(some)) {
        expect(names(answer)).not.toContain('c')
        expect(names(answer)).not.toContain('d')
      }
    },
  )

  test.each<Case>([
    [{ size: '1' }, 'a'],
    [{ size: '2.50' }, 'b'],
    [{ size: { gte: '1e1' } }, 'f'],
    [{ size: ['1', '-3'] }, 'ae'],
    [{ note: 10 }, 'b'],
    [{ done: 'yes' }, 'a'],
    [{ done: 0 }, 'b'],
    [{ done: ['1', 'NO'] }, 'ab'],
    [{ at: FEB.getTime() }, 'b'],
    [{ at: String(FEB.getTime()) }, 'b'],
    [{ at: '2024-02-01T01:00:00+01:00' }, 'b'],
    [{ maker: BOB.toUpperCase() }, 'b'],
    [{ any: 1 }, 'a'],
    [{ any: '1' }, 'b'],
    [{ any: true }, 'f'],
    [{ marks: '9' }, 'e'],
  ])('values are cast by the schema: %j finds %s', async (filter, found) => {
    const { ask } = await opened()
    expect(names(await ask({ filter })).join('')).toBe(found)
  })

  test('texts that a dialect could trip over are only texts', async () => {
    const shop = await opened()
    const odd = ["' OR 1=1 --", '$ne', '{"$gt":""}', '%', '_', '\u0000', '\\', '.*', 'é', '😀']
    for (const text of odd) {
      await shop.insert({ name: text })
      expect(names(await shop.ask({ filter: { name: text } }))).toEqual([text])
      expect(names(await shop.ask({ filter: { name: { in: [text] } } }))).toEqual([text])
      expect(names(await shop.ask({ filter: { note: text } }))).toEqual([])
    }
  })
})

describe('4.1 QUERY body, search, sort and pages', () => {
  test('search is the same as ?s=', async () => {
    const { ask, list } = await opened()
    expect(names(await ask({ search: 'A' }))).toEqual(['a'])
    expect((await ask({ search: 'A' })).text).toBe((await list('s=A')).text)
    expect(names(await ask({ search: '' }))).toHaveLength(6)
    expect(names(await ask({ search: 'A', filter: { size: 2.5 } }))).toEqual([])
  })

  test('sort is a name, or a list of up to 5', async () => {
    const { ask } = await opened()
    const sorted = async (sort: unknown) => names(await ask({ sort })).join('')
    expect(await sorted('size')).toBe('cdeabf')
    expect(await sorted('-size')).toBe('fbaecd')
    expect(await sorted(['-size'])).toBe('fbaecd')
    expect(await sorted(['note', '-name'])).toBe('dcebfa')
    expect(await sorted(['-note', 'name', 'size', '-at'])).toBe('afbecd')
  })

  test('answers, QUERY: sort [] and "" are the default order; a repeated key keeps its first place and last direction', async () => {
    const { ask } = await opened({ orderBy: '-name' })
    for (const sort of [[], '', null]) expect(names(await ask({ sort })).join('')).toBe('fedcba')
    expect(names(await ask({ sort: ['size', 'name', '-size'] })).join('')).toBe('fbaecd')
  })

  test('page and pageSize paginate, pageSize alone implies page 1, both within maxLimit', async () => {
    const { ask } = await opened({ maxLimit: 4, defaultPageSize: 2 })
    const pageOf = async (body: unknown) => {
      const answer = await ask(body)
      return [names(answer).join(''), answer.body.pagination]
    }
    const counted = (currentPage: number, pageSize: number, totalPages: number) => ({
      currentPage,
      pageSize,
      totalPages,
      totalRecords: 6,
    })
    expect(await pageOf({ page: 2 })).toEqual(['cd', counted(2, 2, 3)])
    expect(await pageOf({ page: 2, pageSize: 4 })).toEqual(['ef', counted(2, 4, 2)])
    expect(await pageOf({ pageSize: 3 })).toEqual(['abc', counted(1, 3, 2)])
    expect(await pageOf({ pageSize: 99 })).toEqual(['abcd', counted(1, 4, 2)])
    expect(await pageOf({ page: 9 })).toEqual(['', counted(9, 2, 3)])
    expect(await pageOf({ page: 1.0 })).toEqual(['ab', counted(1, 2, 3)])
  })

  test('limit caps an unpaginated read, clamped to maxLimit', async () => {
    const { ask } = await opened({ maxLimit: 4 })
    for (const [body, found] of [
      [{}, 'abcd'],
      [{ limit: 2 }, 'ab'],
      [{ limit: 4 }, 'abcd'],
      [{ limit: 99 }, 'abcd'],
      [{ limit: Number.MAX_SAFE_INTEGER }, 'abcd'],
      [{ limit: 1e300 }, 'abcd'],
    ] as const) {
      const answer = await ask(body)
      expect(names(answer).join('')).toBe(found)
      expect(answer.body).not.toHaveProperty('pagination')
    }
  })

  test('answers, QUERY: no body, {} and keys that are null are a plain list', async () => {
    const { ask, list, send } = await opened()
    const plain = (await list()).text
    const headers = { 'content-type': 'application/json' }
    const nulls = Object.fromEntries(
      ['filter', 'search', 'sort', 'page', 'pageSize', 'limit', 'cursor'].map((key) => [key, null]),
    )
    for (const answer of [
      await ask(),
      await ask({}),
      await ask(nulls),
      await ask({ filter: {} }),
      await send('QUERY', '/items', { body: '', headers }),
      await send('QUERY', '/items', { body: ' \n{ } ', headers }),
      await send('QUERY', '/items', { body: '\uFEFF{}', headers }),
    ]) {
      expect(answer.status).toBe(200)
      expect(answer.text).toBe(plain)
    }
  })

  test('answers, QUERY: URL parameters are ignored, those that a GET refuses too', async () => {
    const { send, list } = await opened()
    const url = '/items?size=1&page=x&pageSize=1&sort=secret&s=zzz&cursor=x&size[$ne]=1'
    const answer = await send('QUERY', url, { json: { filter: { size: { gt: 1 } } } })
    expect(names(answer)).toEqual(['b', 'f'])
    expect((await send('QUERY', url)).text).toBe((await list()).text)
  })

  test('of a repeated key the last counts, as JSON has it', async () => {
    const { send } = await opened()
    const answer = await send('QUERY', '/items', {
      body: '{"filter":{"size":1},"filter":{"size":2.5}}',
      headers: { 'content-type': 'application/json' },
    })
    expect(names(answer)).toEqual(['b'])
  })
})
