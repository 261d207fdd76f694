import { describe, expect, it } from 'vitest'
import { createRouter, type Guard } from '../../src/index.ts'
import { service } from '../records/service.ts'
import { faultyCache } from './faulty.ts'
import { BOOKS, Book, library } from './library.ts'

describe('who shares answers', () => {
  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('no tenant')
      },
    ],
    [
      'rejects',
      async () => {
        throw new Error('no tenant')
      },
    ],
    ['gives undefined', () => undefined],
    ['gives null', () => null],
    ['gives an object', () => ({ tenant: 'a' })],
    ['gives a list', () => ['a']],
    ['gives NaN', () => Number.NaN],
    ['gives a function', () => () => 'a'],
  ])('a vary that %s keeps nothing', async (_title, vary) => {
    const { xCache, store, cache } = await library({ cache: { vary: vary as () => string } })
    for (const user of ['ann', 'bob', 'ann']) {
      const before = store.reads
      expect(await xCache('/books', { 'x-user': user })).toBeNull()
      expect(store.reads).toBeGreaterThan(before)
    }
    expect(cache.calls.filter(({ name, key }) => name === 'set' && key.startsWith('cs:a'))).toEqual(
      [],
    )
  })

  it('a vary takes the place of user and role, awaited too', async () => {
    const vary = async (request: Request) => request.headers.get('x-tenant') ?? 'none'
    const { xCache } = await library({ cache: { vary } })
    expect(await xCache('/books', { 'x-user': 'ann', 'x-tenant': 'a' })).toBe('MISS')
    expect(await xCache('/books', { 'x-user': 'bob', 'x-tenant': 'a' })).toBe('HIT')
    expect(await xCache('/books', { 'x-user': 'bob', 'x-tenant': 'b' })).toBe('MISS')
    expect(await xCache('/books', { 'x-user': 'bob' })).toBe('MISS')
  })

  it('values of a vary that look alike are told apart', async () => {
    const values: (string | number | boolean)[] = ['1', 1, true, 'true', '', 'null', 0]
    let value: string | number | boolean = ''
    const { xCache } = await library({ cache: { vary: () => value } })
    for (value of values) expect(await xCache('/books')).toBe('MISS')
    for (value of values) expect(await xCache('/books')).toBe('HIT')
  })

  it('users, and roles of one user, do not share answers', async () => {
    const { xCache } = await library()
    const people = [
      {},
      { 'x-user': 'ann' },
      { 'x-user': 'ann', 'x-role': 'user' },
      { 'x-user': 'ann', 'x-role': 'admin' },
      { 'x-user': 'bob', 'x-role': 'user' },
      { 'x-user': 'ann","user' },
    ] as Record<string, string>[]
    for (const person of people) expect(await xCache('/books', person)).toBe('MISS')
    for (const person of people) expect(await xCache('/books', person)).toBe('HIT')
  })

  it('credentials that no guard has looked at, and a user without an id, are nobody’s to keep', async () => {
    const { xCache, get } = await library()
    for (let time = 0; time < 2; time += 1) {
      expect(await xCache('/books', { authorization: 'Bearer x' })).toBeNull()
      expect(await xCache('/books', { cookie: 'session=1' })).toBeNull()
      expect(await xCache('/books', { 'x-user': '' })).toBeNull()
    }
    expect((await get('/books', { authorization: 'Bearer x' })).status).toBe(200)
  })

  it('a user without an Authorization header, as behind a session cookie, has answers of his own', async () => {
    const { xCache } = await library()
    const ann = { cookie: 'session=1', 'x-user': 'ann' }
    expect(await xCache('/books', ann)).toBe('MISS')
    expect(await xCache('/books', ann)).toBe('HIT')
    expect(await xCache('/books', { cookie: 'session=2', 'x-user': 'bob' })).toBe('MISS')
  })
})

describe('answers are met only where they were asked for', () => {
  it('mounts that begin alike, lists, records and queries do not meet', async () => {
    const { app, send } = service({ cache: faultyCache() })
    const stored = app.store.collection(Book)
    const books = await Promise.all(
      ['a', 'b'].map((title, at) => stored.insert({ title, price: at + 1 })),
    )
    const only =
      (title: string): Guard =>
      (request) => {
        request.auth = { userId: `user:${title}` }
      }
    for (const [path, title] of [
      ['/a', 'a'],
      ['/ab', 'b'],
    ] as const) {
      app.mount(
        path,
        createRouter({
          model: Book,
          ...BOOKS,
          middlewares: [only('x')],
          scope: () => ({ title }),
          cache: true,
        }),
      )
    }
    const [a, b] = books
    for (let time = 0; time < 2; time += 1) {
      expect((await send('GET', '/a')).records).toEqual([{ ...a }])
      expect((await send('GET', '/ab')).records).toEqual([{ ...b }])
      expect((await send('GET', `/a/${a?._id}`)).record).toEqual({ ...a })
      expect((await send('GET', `/a/${b?._id}`)).status).toBe(404)
      expect((await send('QUERY', '/a', { json: { filter: { price: 2 } } })).records).toEqual([])
      expect((await send('QUERY', '/ab', { json: { filter: { price: 2 } } })).records).toHaveLength(
        1,
      )
    }
  })

  it('an equal question finds the answer however it is written, and another one does not', async () => {
    const { xCache, query } = await library()
    const asked = async (json: unknown) => (await query(json)).headers.get('x-cache')
    expect(await xCache('/books?title=a&price=1')).toBe('MISS')
    expect(await xCache('/books?price=1&title=a')).toBe('HIT')
    expect(await xCache('/books?price=%31&title=a')).toBe('HIT')
    expect(await xCache('/books?title=a&title=b')).toBe('MISS')
    expect(await xCache('/books?title=b&title=a')).toBe('MISS')
    expect(await asked({ sort: 'title', filter: { title: 'a', price: 1 } })).toBe('MISS')
    expect(await asked({ filter: { price: 1, title: 'a' }, sort: 'title' })).toBe('HIT')
    expect(await asked({ filter: { price: '1', title: 'a' }, sort: 'title' })).toBe('MISS')
  })

  it('a number beyond all doubles is not answered as null is', async () => {
    const { send } = await library()
    const ask = (body: string) =>
      send('QUERY', '/books', { body, headers: { 'content-type': 'application/json' } })
    expect((await ask('{"filter":{"price":{"ne":null}}}')).status).toBe(200)
    expect((await ask('{"filter":{"price":{"ne":1e400}}}')).status).toBe(400)
  })

  it('HEAD and GET share an answer, HEAD without its body', async () => {
    const { send, get, xCache } = await library()
    const head = await send('HEAD', '/books')
    expect([head.status, head.text, head.headers.get('x-cache')]).toEqual([200, '', 'MISS'])
    const full = await get('/books')
    expect(full.headers.get('x-cache')).toBe('HIT')
    expect(full.records).toHaveLength(1)
    expect(head.headers.get('etag')).toBe(full.headers.get('etag'))
    expect(await xCache('/books')).toBe('HIT')
  })
})
