import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { createRouter, defineModel } from '../../../src/index.ts'
import { type Answer, service } from '../service.ts'
import { expectRefused, Item, type ItemOptions, names, open, type Shop } from './shop.ts'

const INVALID = 'Cursor is not a valid pagination token.'
const OTHER_SORT = 'Cursor was issued for a different sort order.'
const GONE = 'The record this cursor points at no longer exists. Start the scan again.'
const SECRET = 's'.repeat(32)

const ITEMS = Array.from({ length: 9 }, (_, at) => ({
  name: String(at + 1),
  size: at % 3,
  kind: at % 2 ? ('cup' as const) : ('jug' as const),
}))

const OPTIONS: ItemOptions = {
  pagination: 'cursor',
  defaultPageSize: 2,
  query: ['kind', 'size', 'name'],
  search: ['name'],
}

const opened = (options: ItemOptions = {}, secret?: string) =>
  open({ ...OPTIONS, ...options }, ITEMS, secret === undefined ? {} : { secret })

function next(answer: Answer): string {
  const { nextCursor } = answer.body.pagination as { nextCursor: string }
  expect(nextCursor).toEqual(expect.any(String))
  return nextCursor
}

describe('4.1 Cursor pagination, rule 1: first page without a cursor, then nextCursor until it is null', () => {
  test('a walk by GET', async () => {
    const { list } = await opened()
    const pages: unknown[][] = []
    let query = 'sort=-size'
    for (;;) {
      const answer = await list(query)
      pages.push(names(answer))
      const { hasMore, nextCursor } = answer.body.pagination as Record<string, unknown>
      expect(hasMore).toBe(nextCursor !== null)
      if (nextCursor === null) break
      query = `sort=-size&cursor=${nextCursor}`
    }
    expect(pages).toEqual([['3', '6'], ['9', '2'], ['5', '8'], ['1', '4'], ['7']])
  })

  test('a walk over ids of any text', async () => {
    const Page = defineModel('CursorPage', { fields: { name: z.string() }, id: 'text' })
    const { app, send } = service({ store: sqliteStore() })
    app.mount('/pages', createRouter({ model: Page, middlewares: [], pagination: 'cursor' }))
    const quoted = ['a"b', 'a\\', 'a\\"', '"', 'a\nb', '\ufeffa', '\ufeffb']
    const ids = ['a.example', 'a.b.c', '.', '..', 'ä.ö', `${'x'.repeat(998)}.y`, ...quoted].sort()
    for (const _id of ids) await app.store.collection(Page).insert({ _id, name: 'x' })
    const found: unknown[] = []
    for (let cursor: unknown = ''; cursor !== null; ) {
      const from = cursor ? `&cursor=${cursor}` : ''
      const answer = await send('GET', `/pages?pageSize=1${from}`)
      expect(answer.status, answer.text).toBe(200)
      found.push(...answer.records.map(({ _id }) => _id))
      cursor = (answer.body.pagination as { nextCursor: unknown }).nextCursor
    }
    expect(found.toSorted()).toEqual(ids)
  })

  test('GET and QUERY go on with each other’s cursors, and give the same text', async () => {
    const { list, ask } = await opened()
    const first = await list('sort=name&kind=jug&kind=cup&s=')
    const filter = { kind: ['cup', 'jug'] }
    expect((await ask({ sort: 'name', filter })).text).toBe(first.text)
    const cursor = next(first)
    const second = await ask({ sort: ['name'], filter: { kind: { in: ['jug', 'cup'] } }, cursor })
    expect(names(second)).toEqual(['3', '4'])
    expect((await list({ sort: 'name', kind: 'jug', cursor })).body.error).toBe(INVALID)
    const third = await list(`sort=name&kind=cup&kind=jug&cursor=${next(second)}`)
    expect(names(third)).toEqual(['5', '6'])
  })

  test('answers: every list is paginated; the first page needs no parameter; an empty cursor is the first page', async () => {
    const { list, ask } = await opened()
    const first = await list()
    expect(names(first)).toEqual(['1', '2'])
    for (const same of [
      await list('cursor='),
      await ask(),
      await ask({ cursor: '' }),
      await ask({ cursor: null }),
    ]) {
      expect(same.text).toBe(first.text)
    }
  })

  test('answers: pageSize as above; limit in a QUERY body is a 400', async () => {
    const shop = await opened({ maxLimit: 4 })
    expect(names(await shop.list('pageSize=9'))).toHaveLength(4)
    expect(names(await shop.list('pageSize=0'))).toHaveLength(2)
    expect(names(await shop.list('pageSize=-2'))).toHaveLength(1)
    expect(names(await shop.ask({ pageSize: 9 }))).toHaveLength(4)
    shop.store.taken()
    const error = "This endpoint paginates by cursor. Use 'pageSize' instead of 'limit'."
    expectRefused(shop, await shop.ask({ limit: 3 }), error)
  })

  test('the page size may change during a scan', async () => {
    const { list } = await opened()
    const cursor = next(await list('pageSize=4'))
    expect(names(await list({ cursor, pageSize: '3' }))).toEqual(['5', '6', '7'])
  })

  test('the token is opaque base64url, and holds the id of a record, not its values', async () => {
    const { list, items } = await open({ ...OPTIONS, sortableFields: ['note'] }, [
      { name: 'a', note: 'confidential' },
      { name: 'b' },
    ])
    const cursor = next(await list('sort=-note&pageSize=1'))
    expect(cursor).toMatch(/^[\w-]+$/)
    const inside = Buffer.from(cursor, 'base64url').toString('latin1')
    expect(inside).toContain(String(items[0]?._id))
    expect(inside).not.toContain('confidential')
  })
})

describe('4.1 Cursor pagination, rule 2: the same sort and filters for the whole scan', () => {
  test('changing sort mid-scan is a 400', async () => {
    const shop = await opened({ orderBy: 'name' })
    const cursor = next(await shop.list('sort=size'))
    shop.store.taken()
    for (const sort of ['-size', 'name', '']) {
      expectRefused(shop, await shop.list({ sort, cursor }), OTHER_SORT)
      expectRefused(shop, await shop.ask({ sort, cursor }), OTHER_SORT)
    }
    expectRefused(shop, await shop.ask({ sort: ['size', 'name'], cursor }), OTHER_SORT)
  })

  test('the default order by its own name is the same sort', async () => {
    const { list } = await opened({ orderBy: '-size' })
    const cursor = next(await list())
    expect(names(await list({ sort: '-size', cursor }))).toEqual(['9', '2'])
  })

  test('answers: bound to filters and search', async () => {
    const shop = await opened()
    const cursor = next(await shop.list('kind=jug&s='))
    shop.store.taken()
    for (const query of [
      {},
      { kind: 'cup' },
      { kind: 'jug', size: '1' },
      { kind: 'jug', s: '1' },
    ]) {
      expectRefused(shop, await shop.list({ ...query, cursor }), INVALID)
    }
    for (const filter of [{ kind: { ne: 'jug' } }, { kind: { gte: 'jug' } }, { size: 1 }]) {
      expectRefused(shop, await shop.ask({ filter, cursor }), INVALID)
    }
    expect(names(await shop.list({ kind: 'jug', cursor }))).toEqual(['5', '7'])
  })

  test('values of other types are other filters', async () => {
    const shop = await opened({ query: ['any', 'kind'] })
    for (let at = 0; at < 3; at += 1) await shop.insert({ any: '1' })
    const cursor = next(await shop.ask({ filter: { any: '1' } }))
    shop.store.taken()
    expectRefused(shop, await shop.ask({ filter: { any: 1 }, cursor }), INVALID)
  })

  test('answers, Cursor mode: bound to the mount', async () => {
    const { app, send } = service()
    for (const path of ['/a', '/b']) app.mount(path, createRouter({ model: Item, ...OPTIONS }))
    for (const item of ITEMS) await app.store.collection(Item).insert(item)
    const cursor = next(await send('GET', '/a'))
    expect((await send('GET', `/b?cursor=${cursor}`)).body.error).toBe(INVALID)
    expect((await send('GET', `/a?cursor=${cursor}`)).status).toBe(200)
  })

  test('answers, Cursor mode: bound to the scope, within which the anchor is looked up', async () => {
    for (const secret of [undefined, SECRET]) {
      const shop = await opened(
        { scope: (request) => ({ kind: request.headers.get('x-kind') === 'cup' ? 'cup' : 'jug' }) },
        secret,
      )
      const cursor = next(await shop.list())
      shop.store.taken()
      const headers = { 'x-kind': 'cup' }
      const foreign = await shop.send('GET', `/items?cursor=${cursor}`, { headers })
      expectRefused(shop, foreign, INVALID)
      expect(names(await shop.list({ cursor }))).toEqual(['5', '7'])
    }
  })
})

describe('4.1 Cursor pagination, rule 3: a deleted anchor', () => {
  test('is a 400; restart from the first page', async () => {
    const { list, remove, items } = await opened()
    const cursor = next(await list())
    await remove(items[1]?._id)
    const refused = await list({ cursor })
    expect([refused.status, refused.body.error]).toEqual([400, GONE])
    expect(names(await list())).toEqual(['1', '3'])
  })

  test('an anchor that left the scope is gone too', async () => {
    const { list, change, items } = await opened({ scope: () => ({ kind: 'jug' }) })
    const cursor = next(await list())
    await change(items[2]?._id, { kind: 'cup' })
    expect((await list({ cursor })).body.error).toBe(GONE)
  })

  test('answers: walking continues from the anchor’s current values', async () => {
    const { list, change, items } = await opened()
    const cursor = next(await list('sort=name'))
    await change(items[1]?._id, { name: '55' })
    expect(names(await list({ sort: 'name', cursor }))).toEqual(['6', '7'])
  })

  test('an anchor that no longer meets the filter still marks its place', async () => {
    const { list, change, items } = await opened()
    const cursor = next(await list('kind=jug'))
    await change(items[2]?._id, { kind: 'cup' })
    expect(names(await list({ kind: 'jug', cursor }))).toEqual(['5', '7'])
  })
})

describe('answers, Cursor mode: forged tokens are refused before the store is asked', () => {
  async function refusedAll(shop: Shop, tokens: Iterable<string>): Promise<void> {
    for (const cursor of tokens) {
      expectRefused(shop, await shop.list({ cursor }), INVALID)
      expectRefused(shop, await shop.ask({ cursor }), INVALID)
    }
  }

  test.each([
    ['with a secret', SECRET],
    ['without one', undefined],
  ])('1,000 random bit flips of a token are refused, %s', async (_title, secret) => {
    const shop = await opened({}, secret)
    const token = next(await shop.list())
    shop.store.taken()
    const bytes = Buffer.from(token, 'latin1')
    let state = 11
    const flips = Array.from({ length: 1000 }, () => {
      state = (state * 48_271) % 2_147_483_647
      const at = state % (bytes.length * 8)
      const flipped = Buffer.from(bytes)
      flipped[at >> 3] = (flipped[at >> 3] ?? 0) ^ (1 << (at & 7))
      return flipped.toString('latin1')
    })
    await refusedAll(shop, flips)
  })

  test('every other character in every place is refused: a token has one spelling', async () => {
    const shop = await opened()
    const token = next(await shop.list())
    shop.store.taken()
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    // The last character of base64 may hold bits that stand for nothing.
    const others = [...token].flatMap((_, at) =>
      [...(at < token.length - 1 ? 'AQz0_' : alphabet)].map(
        (char) => token.slice(0, at) + char + token.slice(at + 1),
      ),
    )
    await refusedAll(shop, new Set(others.filter((other) => other !== token)))
    for (const more of [`${token}=`, `${token}A`, ` ${token}`, `${token}\n`, token.slice(0, -1)]) {
      await refusedAll(shop, [more])
    }
  })

  test('random bytes, other shapes, and 1 MB of it', async () => {
    const shop = await opened()
    const id = String(shop.items[0]?._id)
    const encoded = [
      id,
      `${id}.x.y`,
      `${id}..`,
      '..',
      `${id}.${'0'.repeat(16)}.${'0'.repeat(32)}`,
      `x.${'0'.repeat(16)}.${'0'.repeat(32)}`,
      `' OR 1=1 --.${'0'.repeat(16)}.${'0'.repeat(32)}`,
      `{"$ne":null}.a.b`,
    ].map((text) => Buffer.from(text).toString('base64url'))
    await refusedAll(shop, ['x', '%', '-', '_', 'null', '0', 'é', '\u0000', id, ...encoded])
    expectRefused(shop, await shop.ask({ cursor: 'A'.repeat(1_000_000) }), INVALID)
    expectRefused(shop, await shop.list({ cursor: 'A'.repeat(1_000_000) }), INVALID)
  })

  test('a token for another record cannot be made from one at hand', async () => {
    const shop = await opened({}, SECRET)
    const token = Buffer.from(next(await shop.list()), 'base64url').toString('latin1')
    const other = String(shop.items[5]?._id)
    shop.store.taken()
    await refusedAll(shop, [Buffer.from(other + token.slice(other.length)).toString('base64url')])
  })

  test('one of another secret, or of none, is refused', async () => {
    const store = sqliteStore()
    const apps = [SECRET, 't'.repeat(32), undefined].map((secret) => {
      const { app, send } = service({ store, ...(secret !== undefined && { secret }) })
      app.mount('/items', createRouter({ model: Item, ...OPTIONS }))
      return { app, send }
    })
    for (const item of ITEMS) await apps[0]?.app.store.collection(Item).insert(item)
    for (const from of apps) {
      const cursor = next(await from.send('GET', '/items'))
      for (const to of apps) {
        const { status } = await to.send('GET', `/items?cursor=${cursor}`)
        expect(status).toBe(to === from ? 200 : 400)
      }
    }
  })

  test('a repeated cursor is a 400', async () => {
    const shop = await opened()
    const cursor = next(await shop.list())
    shop.store.taken()
    expectRefused(shop, await shop.list(`cursor=${cursor}&cursor=${cursor}`), INVALID)
  })
})

describe('answers, Cursor mode: tokens survive restarts and other instances', () => {
  test.each([
    ['with the same secret', SECRET],
    ['without a secret', undefined],
  ])('another app goes on with the token, %s', async (_title, secret) => {
    const store = sqliteStore()
    const instance = () => {
      const { app, send } = service({ store, ...(secret !== undefined && { secret }) })
      app.mount('/items', createRouter({ model: Item, ...OPTIONS }))
      return { app, send }
    }
    const first = instance()
    for (const item of ITEMS) await first.app.store.collection(Item).insert(item)
    const cursor = next(await first.send('GET', '/items?sort=-size&kind=jug'))
    const second = instance()
    const answer = await second.send('GET', `/items?sort=-size&kind=jug&cursor=${cursor}`)
    expect(names(answer)).toEqual(['5', '1'])
  })
})
