import { describe, expect, test } from 'vitest'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import type { Store } from '../../../src/index.ts'
import type { ReadHints } from '../../../src/ports/store/records.ts'
import { StoreTimeout } from '../../../src/ports/store/store-errors.ts'
import { expectRefused, type ItemOptions, names, open } from './shop.ts'

const many = (count: number) =>
  Array.from({ length: count }, (_, at) => ({
    name: String(at + 1),
    size: at,
    kind: at % 2 ? ('cup' as const) : ('jug' as const),
  }))

const NAMES = (from: number, to: number) =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, at) => String(from + at))

const opened = (options: ItemOptions = {}, count = 25) =>
  open(
    { query: ['kind', 'size'], search: ['name'], maxLimit: 20, defaultPageSize: 5, ...options },
    many(count),
  )

describe('2.3 Pagination object', () => {
  test('Offset, counted: currentPage, pageSize, totalPages, totalRecords', async () => {
    const { list, ask } = await opened()
    const answer = await list('page=2&pageSize=10')
    expect(names(answer)).toEqual(NAMES(11, 20))
    const pagination = { currentPage: 2, pageSize: 10, totalPages: 3, totalRecords: 25 }
    expect(answer.body).toEqual({ success: true, data: answer.records, pagination })
    expect((await ask({ page: 2, pageSize: 10 })).text).toBe(answer.text)
  })

  test("Offset, countStrategy 'none': currentPage, pageSize, hasMore; answers: one record more is read", async () => {
    const { list, store } = await opened({ countStrategy: 'none' })
    const pagination = async (query: string) => (await list(query)).body.pagination
    expect(await pagination('page=2&pageSize=10')).toEqual({
      currentPage: 2,
      pageSize: 10,
      hasMore: true,
    })
    expect(store.calls.map(({ name, argument }) => [name, argument.limit])).toEqual([
      ['items.findJson', 11],
    ])
    expect(await pagination('page=3&pageSize=10')).toEqual({
      currentPage: 3,
      pageSize: 10,
      hasMore: false,
    })
    expect(await pagination('page=5&pageSize=5')).toEqual({
      currentPage: 5,
      pageSize: 5,
      hasMore: false,
    })
    expect(await pagination('page=4&pageSize=5')).toEqual({
      currentPage: 4,
      pageSize: 5,
      hasMore: true,
    })
    expect(names(await list('page=4&pageSize=5'))).toEqual(NAMES(16, 20))
    expect(await pagination('page=9')).toEqual({ currentPage: 9, pageSize: 5, hasMore: false })
  })

  test('Cursor: pageSize, hasMore, nextCursor: a string, or null on the last page', async () => {
    const { list } = await opened({ pagination: 'cursor' })
    const first = await list('pageSize=20')
    expect(first.body.pagination).toEqual({
      pageSize: 20,
      hasMore: true,
      nextCursor: expect.any(String),
    })
    const { nextCursor: cursor } = first.body.pagination as { nextCursor: string }
    const last = await list({ cursor, pageSize: '20' })
    expect(last.body.pagination).toEqual({ pageSize: 20, hasMore: false, nextCursor: null })
    expect(names(last)).toEqual(NAMES(21, 25))
  })

  test('a list with no page parameter has no pagination object', async () => {
    const { list, ask } = await opened()
    for (const answer of [
      await list(),
      await list('kind=cup&sort=size'),
      await ask({}),
      await ask({ limit: 3 }),
    ]) {
      expect(Object.keys(answer.body)).toEqual(['success', 'data'])
    }
  })

  test('answers: no records: totalPages 0', async () => {
    const { list } = await opened({}, 0)
    const pagination = { currentPage: 1, pageSize: 5, totalPages: 0, totalRecords: 0 }
    expect((await list('page=1')).body).toEqual({ success: true, data: [], pagination })
  })
})

describe('4.1 Offset pagination', () => {
  test('no page: unpaginated list, no pagination object, capped at maxLimit', async () => {
    const { list, ask } = await opened()
    expect(names(await list())).toEqual(NAMES(1, 20))
    expect(names(await ask())).toEqual(NAMES(1, 20))
    expect(Object.keys((await list()).body)).toEqual(['success', 'data'])
  })

  test('page=1 with no pageSize: defaultPageSize items', async () => {
    const { list, ask } = await opened()
    expect(names(await list('page=1'))).toEqual(NAMES(1, 5))
    expect(names(await ask({ page: 1 }))).toEqual(NAMES(1, 5))
  })

  test('pageSize above maxLimit: clamped to maxLimit', async () => {
    const { list, ask } = await opened()
    for (const pageSize of ['21', '1000', '1e9', '9007199254740993', '1e400', '9'.repeat(500)]) {
      const answer = await list({ page: '1', pageSize })
      expect(names(answer)).toEqual(NAMES(1, 20))
      expect(answer.body.pagination).toMatchObject({ pageSize: 20, totalPages: 2 })
    }
    expect(names(await ask({ pageSize: 2 ** 53 }))).toEqual(NAMES(1, 20))
  })

  test.each([
    'abc',
    '0',
    '-3',
    '-1',
    '1.9',
    '1.0',
    '01',
    '+1',
    'NaN',
    'null',
    '0x10',
    ' 2',
    '1e-5',
    '-1e300',
    '٢',
    '2;3',
  ])('page non-numeric or negative: treated as page 1: %j', async (page) => {
    const { list } = await opened()
    const answer = await list({ page })
    expect(names(answer)).toEqual(NAMES(1, 5))
    expect(answer.body.pagination).toMatchObject({ currentPage: 1 })
  })

  test('pageSize alone does not paginate', async () => {
    const { list } = await opened()
    const answer = await list('pageSize=3')
    expect(names(answer)).toEqual(NAMES(1, 20))
    expect(answer.body.pagination).toBeUndefined()
  })

  test('answers: page= is unpaginated', async () => {
    const { list } = await opened()
    expect(names(await list('page='))).toEqual(NAMES(1, 20))
    expect((await list('page=&pageSize=3')).body.pagination).toBeUndefined()
  })

  test.each([
    ['0', 5],
    ['', 5],
    ['abc', 5],
    ['-0', 5],
    ['-1', 1],
    ['-1000', 1],
    ['2.9', 2],
    ['3', 3],
    ['1e1', 10],
  ])('answers: pageSize=%j makes pages of %d', async (pageSize, size) => {
    const { list } = await opened()
    const answer = await list({ page: '1', pageSize })
    expect(names(answer)).toEqual(NAMES(1, size))
    expect(answer.body.pagination).toMatchObject({ pageSize: size })
  })

  test('answers: a page past the end: empty data, right totals', async () => {
    const { list } = await opened()
    const answer = await list('page=9')
    const pagination = { currentPage: 9, pageSize: 5, totalPages: 5, totalRecords: 25 }
    expect(answer.body).toEqual({ success: true, data: [], pagination })
  })

  test('answers, Pagination: a page whose offset passes 2^53 is a 400', async () => {
    const shop = await opened()
    const most = Math.floor(Number.MAX_SAFE_INTEGER / 5)
    expect(names(await shop.list({ page: String(most) }))).toEqual([])
    expect(names(await shop.list({ page: '1e9' }))).toEqual([])
    shop.store.taken()
    for (const page of [
      '1801439850948199',
      '9007199254740993',
      '1e300',
      '1e400',
      '9'.repeat(500),
    ]) {
      const error = `Page ${Number(page)} is beyond the maximum of ${most}. Narrow the filter, or page with a cursor instead.`
      expectRefused(shop, await shop.list({ page }), error)
      // JSON has no infinity.
      if (Number.isFinite(Number(page))) {
        expectRefused(shop, await shop.ask({ page: Number(page) }), error)
      }
    }
  })

  test('security, repeated parameters: page and pageSize twice give a defined answer', async () => {
    const { list } = await opened()
    const answer = await list('page=2&page=3&pageSize=2&pageSize=3')
    expect(answer.body.pagination).toMatchObject({ currentPage: 1, pageSize: 5 })
  })
})

describe('2.6 and 8 Limits: the options of paging', () => {
  test('maxLimit is 100 by default: the most of any response', async () => {
    const { list, ask } = await open({}, many(105))
    expect(names(await list())).toHaveLength(100)
    expect(names(await list('page=1&pageSize=500'))).toHaveLength(100)
    expect(names(await ask({ limit: 500 }))).toHaveLength(100)
    expect(names(await ask({ pageSize: 500 }))).toHaveLength(100)
    const cursor = await open({ pagination: 'cursor' }, many(105))
    expect(names(await cursor.list('pageSize=500'))).toHaveLength(100)
    expect(names(await cursor.ask({ pageSize: 500 }))).toHaveLength(100)
  })

  test('security, unbounded reads: without a page no more than maxLimit is asked of the store, lean and populated too', async () => {
    for (const options of [{}, { lean: true }, { onGet: () => ({ populate: 'maker' as const }) }]) {
      const { list, store } = await opened({ maxLimit: 3, defaultPageSize: 3, ...options })
      expect(names(await list())).toHaveLength(3)
      expect(store.calls.map(({ argument }) => argument.limit)).toEqual([3])
    }
  })

  test('defaultPageSize is 50 by default: page without pageSize', async () => {
    const { list } = await open({}, many(60))
    expect(names(await list('page=1'))).toHaveLength(50)
    const small = await open({ maxLimit: 10 }, many(60))
    expect(names(await small.list('page=1'))).toHaveLength(10)
  })

  test('maxPage: deeper offset pages are a 400', async () => {
    const shop = await opened({ maxPage: 3 })
    expect(names(await shop.list('page=3'))).toEqual(NAMES(11, 15))
    expect(names(await shop.ask({ page: 3 }))).toEqual(NAMES(11, 15))
    shop.store.taken()
    const error =
      'Page 4 is beyond the maximum of 3. Narrow the filter, or page with a cursor instead.'
    expectRefused(shop, await shop.list('page=4'), error)
    expectRefused(shop, await shop.list('page=4&pageSize=1'), error)
    expectRefused(shop, await shop.ask({ page: 4 }), error)
  })

  test("countStrategy 'exact' is the default: the count stands under the filter and the search", async () => {
    const { list, store } = await opened()
    const total = async (query: string) =>
      (await list(query)).body.pagination as { totalRecords: number }
    expect((await total('page=1&kind=cup')).totalRecords).toBe(12)
    expect((await total('page=1&s=1')).totalRecords).toBe(12)
    expect((await total('page=1&kind=cup&s=1')).totalRecords).toBe(5)
    expect(store.taken()).not.toContain('items.estimate')
  })

  test("answers, Pagination: countStrategy 'estimated' counts cheaply only without filter, search or scope", async () => {
    const { list, store } = await opened({ countStrategy: 'estimated' })
    const asked = async (query: string) => {
      const { totalRecords } = (await list(query)).body.pagination as { totalRecords: number }
      return [totalRecords, store.taken().filter((name) => name !== 'items.findJson')]
    }
    expect(await asked('page=1')).toEqual([25, ['items.estimate']])
    expect(await asked('page=1&sort=size')).toEqual([25, ['items.estimate']])
    expect(await asked('page=1&nothing=1')).toEqual([25, ['items.estimate']])
    expect(await asked('page=1&kind=cup')).toEqual([12, ['items.count']])
    expect(await asked('page=1&s=1')).toEqual([12, ['items.count']])
    expect(await asked('page=1&rangeField=size&range=0-1')).toEqual([2, ['items.count']])
    const scoped = await opened({ countStrategy: 'estimated', scope: () => ({ kind: 'jug' }) })
    expect((await scoped.list('page=1')).body.pagination).toMatchObject({ totalRecords: 13 })
    expect(scoped.store.taken()).not.toContain('items.estimate')
  })

  test('security, totals: totals never depend on what was refused or ignored', async () => {
    const { list } = await opened()
    const plain = (await list('page=1')).body.pagination
    for (const query of ['secret=x', 'vault.pin=x', 'name=1', 'password=x', 'filter={"size":1}']) {
      expect((await list(`page=1&${query}`)).body.pagination).toEqual(plain)
    }
  })

  test('maxTimeMS is off by default, else every query of a list gets it', async () => {
    const off = await opened()
    await off.list('page=1&s=1')
    for (const { argument } of off.store.calls)
      expect((argument.hints as ReadHints | undefined)?.timeLimitMs).toBeUndefined()
    const options: ItemOptions = {
      maxTimeMS: 250,
      defaultPageSize: 20,
      search: ['name', 'maker.name'],
      onGet: () => ({ populate: 'maker' }),
    }
    const on = await opened(options)
    const maker = await on.make({ name: '1' })
    await on.insert({ name: 'made', maker: String(maker._id) })
    on.store.taken()
    await on.list('page=1&s=1')
    const limits = on.store.calls.map(({ name, argument, second }) => [
      name,
      ((argument.hints ?? second) as ReadHints).timeLimitMs,
    ])
    expect(limits).toEqual([
      ['makers.find', 250],
      ['items.findJson', 250],
      ['items.count', 250],
      ['makers.findJson', 250],
    ])
  })

  test('maxTimeMS: a query that takes longer is an error of the envelope that tells nothing', async () => {
    const slow: Store = sqliteStore()
    const store: Store = {
      ...slow,
      collection: (schema) => ({
        ...slow.collection(schema),
        find: () => Promise.reject(new StoreTimeout('a read took longer than 5 ms')),
        findJson: () => Promise.reject(new StoreTimeout('a read took longer than 5 ms')),
      }),
    }
    const { list } = await open({ maxTimeMS: 5 }, [], { store })
    const answer = await list()
    expect(answer.status).toBe(503)
    expect(answer.body.error).toBe('The service is unavailable. Try again shortly.')
  })

  test('allowDiskUse, batchSize: query passthroughs', async () => {
    const { list, store } = await opened({ allowDiskUse: true, batchSize: 7 })
    await list()
    const { allowDiskUse, batchSize } = (store.calls[0]?.argument.hints ?? {}) as ReadHints
    expect({ allowDiskUse, batchSize }).toEqual({ allowDiskUse: true, batchSize: 7 })
  })
})

describe('4.1 Cursor pagination, rule 4, and 7 Errors: the paging modes do not mix', () => {
  const PAGES = "This endpoint paginates by page. Use 'page' and 'pageSize'."
  const CURSORS =
    "This endpoint paginates by cursor. Omit 'page' for the first page, then follow 'pagination.nextCursor'."

  test('cursor to an offset server is a 400; answers: an empty one is ignored', async () => {
    const shop = await opened()
    expectRefused(shop, await shop.list('cursor=abc'), PAGES)
    expectRefused(shop, await shop.list('cursor=abc&page=1'), PAGES)
    expectRefused(shop, await shop.list('cursor=a&cursor=b'), PAGES)
    expectRefused(shop, await shop.ask({ cursor: 'abc' }), PAGES)
    for (const answer of [
      await shop.list('cursor='),
      await shop.ask({ cursor: '' }),
      await shop.ask({ cursor: null }),
    ]) {
      expect(names(answer)).toHaveLength(20)
    }
  })

  test('page to a cursor server is a 400', async () => {
    const shop = await opened({ pagination: 'cursor' })
    for (const page of ['1', '2', 'abc', '0']) {
      expectRefused(shop, await shop.list({ page }), CURSORS)
    }
    expectRefused(shop, await shop.list('page=1&page=2'), CURSORS)
    expectRefused(shop, await shop.ask({ page: 1 }), CURSORS)
    expect(names(await shop.list('page='))).toHaveLength(5)
  })
})
