import { describe, expect, it } from 'vitest'
import { createRouter } from '../../src/index.ts'
import { BOOKS, Book, type BookOptions, library } from './library.ts'

describe('caches in front of the app', () => {
  it('an answer to a request with Authorization is private, also a HIT, a 304 and a refusal', async () => {
    const { get } = await library()
    const ann = { 'x-user': 'ann', authorization: 'Bearer x' }
    const first = await get('/books', ann)
    const answers = [
      first,
      await get('/books', ann),
      await get('/books', { ...ann, 'if-none-match': first.headers.get('etag') ?? '' }),
      await get('/books/nonsense', ann),
      await get('/nowhere', ann),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 304, 400, 404])
    expect(answers[1]?.headers.get('x-cache')).toBe('HIT')
    for (const { status, headers } of answers) {
      expect(headers.get('cache-control')).toBe('private, no-store')
      // Errors are problem details for those that accept them.
      expect(headers.get('vary')).toBe(status < 400 ? 'Authorization' : 'Accept, Authorization')
    }
  })

  it('an answer to a user behind a cookie is private too', async () => {
    const { get } = await library()
    const headers = { cookie: 'session=1', 'x-user': 'ann' }
    expect((await get('/books', headers)).headers.get('cache-control')).toBe('private, no-store')
  })

  it('what the deployer has said stays, and Vary names Authorization once', async () => {
    const { get, app } = await library()
    let vary = ''
    app.use((_request, context) => {
      context.headers.set('Cache-Control', 'private, max-age=5')
      if (vary) context.headers.set('Vary', vary)
    })
    const ann = { 'x-user': 'ann', authorization: 'Bearer x' }
    const seen: (string | null)[] = []
    for (vary of ['', 'Accept-Language', 'Accept, authorization', '*', 'X-Authorization']) {
      const { headers } = await get('/books', ann)
      expect(headers.get('cache-control')).toBe('private, max-age=5')
      seen.push(headers.get('vary'))
    }
    expect(seen).toEqual([
      'Authorization',
      'Accept-Language, Authorization',
      'Accept, authorization',
      '*',
      'X-Authorization, Authorization',
    ])
  })

  it('an error is kept by none, for however long a guard lets responses be kept', async () => {
    const { get, app } = await library()
    const fields = ['Cache-Control', 'CDN-Cache-Control', 'Surrogate-Control', 'Expires']
    app.use((_request, context) => {
      for (const name of fields) context.headers.set(name, 'public, max-age=60')
    })
    const rules = async (path: string) => {
      const { headers } = await get(path)
      return fields.map((name) => headers.get(name))
    }
    expect(await rules('/books')).toEqual(fields.map(() => 'public, max-age=60'))
    for (const path of ['/books/nonsense', `/books/${'0'.repeat(24)}`, '/nowhere']) {
      expect(await rules(path)).toEqual(['no-store', null, null, null])
    }
  })

  it('a route of its own is asked about again each time, unless it says something else', async () => {
    const { get, app } = await library()
    app.get('/own', () => Response.json({}))
    app.get('/kept', () => Response.json({}, { headers: { 'Cache-Control': 'max-age=5' } }))
    expect((await get('/own')).headers.get('cache-control')).toBe('no-cache')
    expect((await get('/kept')).headers.get('cache-control')).toBe('max-age=5')
  })

  it('an anonymous answer may be kept, if it is asked about again each time', async () => {
    const { get } = await library()
    const { headers } = await get('/books')
    expect([headers.get('cache-control'), headers.get('vary')]).toEqual(['no-cache', null])
  })
})

const routers: [string, BookOptions][] = [
  ['with the cache', {}],
  ['without one', { cache: false }],
]

describe.each(routers)('conditional requests on a router %s', (_title, options) => {
  it('every read has a strong tag that is the same as long as the answer is', async () => {
    const { get, query, book, send } = await library(options)
    const reads = () =>
      Promise.all([get('/books'), get('/books?page=1'), get(`/books/${book._id}`), query({})])
    const tags = async () => (await reads()).map(({ headers }) => headers.get('etag'))
    const before = await tags()
    for (const tag of before) expect(tag).toMatch(/^"[0-9a-f]{16}"$/)
    expect(await tags()).toEqual(before)
    await send('PATCH', `/books/${book._id}`, { json: { price: 11 } })
    for (const [at, tag] of (await tags()).entries()) expect(tag).not.toBe(before[at])
  })

  it('a client that has the answer gets a 304 without body and without X-Cache', async () => {
    const { get, send, query, book } = await library(options)
    const expectNotModified = async (method: string, path: string, known: string, etag: string) => {
      const answer = await send(method, path, { headers: { 'if-none-match': known } })
      expect([answer.status, answer.text]).toEqual([304, ''])
      expect(answer.headers.get('etag')).toBe(etag)
      expect(answer.headers.has('x-cache')).toBe(false)
      expect(answer.headers.has('content-type')).toBe(false)
    }
    for (const path of ['/books', `/books/${book._id}`]) {
      const etag = (await get(path)).headers.get('etag') ?? ''
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        await expectNotModified('GET', path, known, etag)
        await expectNotModified('HEAD', path, known, etag)
      }
      for (const unknown of ['"other"', etag.slice(1, -1), '', `"x${etag.slice(1)}`]) {
        expect((await get(path, { 'if-none-match': unknown })).status).toBe(200)
      }
    }
    const etag = (await query({})).headers.get('etag') ?? ''
    expect((await query({}, { 'if-none-match': etag })).status).toBe(304)
  })

  it('a 304 is never an answer for what has changed meanwhile, and a refusal is never a 304', async () => {
    const { get, send, book } = await library(options)
    const path = `/books/${book._id}`
    const etag = (await get(path)).headers.get('etag') ?? ''
    await send('PATCH', path, { json: { price: 11 } })
    const changed = await get(path, { 'if-none-match': etag })
    expect([changed.status, changed.record.price]).toEqual([200, 11])
    await send('DELETE', path)
    expect((await get(path, { 'if-none-match': '*' })).status).toBe(404)
    expect((await get('/books?price=x', { 'if-none-match': '*' })).status).toBe(400)
  })

  it('a write with If-Match happens only to what the client has read', async () => {
    const { get, send, book } = await library(options)
    const path = `/books/${book._id}`
    const read = async () => (await get(path)).headers.get('etag') ?? ''
    const patch = (tag: string, price: number) =>
      send('PATCH', path, { json: { price }, headers: { 'if-match': tag } })
    const first = await read()
    expect((await patch(first, 11)).status).toBe(200)
    const late = await patch(first, 12)
    expect([late.status, late.body.success]).toEqual([412, false])
    const second = await read()
    expect(second).not.toBe(first)
    for (const wrong of [`W/${second}`, '"other"', 'nonsense', '']) {
      expect((await patch(wrong, 13)).status).toBe(412)
      expect((await send('DELETE', path, { headers: { 'if-match': wrong } })).status).toBe(412)
    }
    expect((await get(path)).record.price).toBe(11)
    expect((await patch(`"other", ${second}`, 14)).status).toBe(200)
    expect((await patch('*', 15)).status).toBe(200)
    const third = await read()
    expect((await send('DELETE', path, { headers: { 'if-match': third } })).status).toBe(200)
    expect((await patch(third, 16)).status).toBe(404)
    expect((await patch('*', 16)).status).toBe(404)
  })

  it('of 20 writers who have read the same, one writes', async () => {
    const { get, send, book } = await library(options)
    const path = `/books/${book._id}`
    const etag = (await get(path)).headers.get('etag') ?? ''
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        send('PATCH', path, { json: { price: 100 + at }, headers: { 'if-match': etag } }),
      ),
    )
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([200, ...Array<number>(19).fill(412)])
  })

  it('the tag is of what is shown: of fields chosen, references filled in', async () => {
    const { get, send, book, author } = await library({
      ...options,
      onGet: () => ({ populate: 'author', select: ['title', 'author'] }),
    })
    const path = `/books/${book._id}`
    const etag = (await get(path)).headers.get('etag') ?? ''
    const patch = (json: unknown) => send('PATCH', path, { json, headers: { 'if-match': etag } })
    expect((await patch({ price: 11 })).status).toBe(200)
    expect((await get(path)).headers.get('etag')).toBe(etag)
    await send('PATCH', `/authors/${author._id}`, { json: { name: 'A. Leckie' } })
    expect((await patch({ price: 12 })).status).toBe(412)
  })
})

describe('spec 4.4: X-Cache', () => {
  it('is MISS, then HIT, on each kind of read, and nowhere else', async () => {
    const { app, get, send, query, book } = await library()
    app.mount('/plain', createRouter({ model: Book, ...BOOKS }))
    for (const seen of ['MISS', 'HIT', 'HIT']) {
      for (const path of ['/books', '/books?page=1', `/books/${book._id}`]) {
        expect((await get(path)).headers.get('x-cache')).toBe(seen)
      }
      expect((await query({})).headers.get('x-cache')).toBe(seen)
      expect((await get('/plain')).headers.has('x-cache')).toBe(false)
    }
    const others = [
      await send('OPTIONS', '/books'),
      await send('POST', '/books', { json: { title: 'b', price: 1 } }),
      await send('PATCH', `/books/${book._id}`, { json: { price: 1 } }),
      await send('DELETE', `/books/${book._id}`),
      await get('/nowhere'),
    ]
    for (const { headers } of others) expect(headers.has('x-cache')).toBe(false)
  })

  it('is left out where the cache has not answered', async () => {
    const { cache, xCache } = await library()
    cache.fault = 'down'
    expect(await xCache('/books')).toBe(null)
  })

  it('a HIT is the answer of the MISS, byte by byte, and asks the database nothing', async () => {
    const { get, store } = await library()
    const miss = await get('/books?page=1')
    const before = store.reads
    const hit = await get('/books?page=1')
    expect(hit.text).toBe(miss.text)
    for (const name of ['etag', 'content-type']) {
      expect(hit.headers.get(name)).toBe(miss.headers.get(name))
    }
    expect(store.reads).toBe(before)
  })
})
