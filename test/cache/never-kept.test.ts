import { describe, expect, it } from 'vitest'
import { createRouter } from '../../src/index.ts'
import { BOOKS, Book, type BookOptions, library } from './library.ts'

/** The library, and every text that its cache was given. */
async function watched(options: BookOptions = {}) {
  const books = await library(options)
  const kept: string[] = []
  const { set } = books.cache
  books.cache.set = (key, value, ttl) => {
    kept.push(`${key}\n${value}`)
    return set(key, value, ttl)
  }
  const entries = () => kept.filter((text) => text.startsWith('cs:a'))
  return { ...books, entries, kept }
}

describe('what is never kept', () => {
  it('refusals of every kind', async () => {
    const { get, query, entries, app, send } = await watched({
      middlewares: [
        (request) =>
          request.headers.has('x-out') ? new Response('no', { status: 403 }) : undefined,
      ],
    })
    const refused: [string, number][] = [
      ['/books/6561f0a2b3c4d5e6f7a8b9c0', 404],
      ['/books/nonsense', 400],
      ['/books?price=x', 400],
      ['/books?sort=secret', 400],
      ['/books/a/b', 404],
    ]
    for (const [path, status] of [...refused, ...refused]) {
      const answer = await get(path)
      expect(answer.status).toBe(status)
      expect(answer.headers.has('x-cache')).toBe(false)
      expect(answer.body.requestId).toBe(answer.headers.get('x-request-id'))
    }
    for (let time = 0; time < 2; time += 1) {
      expect((await query({ filter: { secret: 1 } })).status).toBe(400)
      expect((await send('QUERY', '/books', { body: 'x' })).status).toBe(415)
      expect((await get('/books', { 'x-out': '1' })).status).toBe(403)
    }
    await app.close()
    expect((await get('/books')).status).toBe(503)
    expect(entries()).toEqual([])
  })

  it('a failure of the database, which concerns the requests that met it alone', async () => {
    const { get, store, entries, log } = await watched()
    store.onRead = () => {
      throw new Error('the database is gone')
    }
    const failed = await Promise.all([get('/books'), get('/books'), get('/books')])
    expect(failed.map(({ status }) => status)).toEqual([500, 500, 500])
    expect(new Set(failed.map(({ body }) => body.requestId)).size).toBe(3)
    expect(log.lines.filter(({ level }) => level === 'error')).toHaveLength(3)
    store.onRead = undefined
    expect((await get('/books')).headers.get('x-cache')).toBe('MISS')
    expect(entries()).toHaveLength(1)
  })

  it('a read whose onGet failed', async () => {
    let isBroken = true
    const { get, entries, query } = await watched({
      onGet: () => {
        if (isBroken) throw new Error('no choice')
        return { select: ['title'] }
      },
    })
    for (let time = 0; time < 2; time += 1) {
      expect((await get('/books')).records).toMatchObject([{ price: 10 }])
      expect((await query({})).status).toBe(200)
    }
    expect(entries()).toEqual([])
    isBroken = false
    expect((await get('/books')).records[0]).not.toHaveProperty('price')
    expect(entries()).toHaveLength(1)
    isBroken = true
    expect((await get('/books')).records[0]).not.toHaveProperty('price')
  })

  it('what a guard has set for one client: cookies, headers, the request id', async () => {
    const { get, kept, app } = await watched()
    app.use((request, context) => {
      context.headers.append('Set-Cookie', `session=${request.headers.get('x-session')}`)
      context.headers.set('X-For', String(request.headers.get('x-session')))
    })
    for (const session of ['first', 'second']) {
      const answer = await get('/books', { 'x-session': session, 'x-request-id': `id-${session}` })
      expect(answer.headers.get('set-cookie')).toBe(`session=${session}`)
      expect(answer.headers.get('x-for')).toBe(session)
      expect(answer.headers.get('x-request-id')).toBe(`id-${session}`)
      expect(answer.headers.get('x-cache')).toBe(session === 'first' ? 'MISS' : 'HIT')
    }
    expect(kept.join()).not.toMatch(/first|second/)
  })

  it('hidden fields, tokens and users: keys and entries hold no secret of a request', async () => {
    const { get, kept } = await watched()
    await get('/books', { 'x-user': 'ann', authorization: 'Bearer very-secret' })
    expect(kept.length).toBeGreaterThan(0)
    expect(kept.join()).not.toContain('very-secret')
  })

  it('answers of other routes: extra routes, writes, OPTIONS', async () => {
    const { app, send, get, book, entries } = await watched()
    const clock = createRouter({ model: Book, ...BOOKS, cache: true })
    clock.get('/now', () => Response.json({ at: crypto.randomUUID() }))
    app.mount('/clock', clock)
    expect((await get('/clock/now')).text).not.toBe((await get('/clock/now')).text)
    await send('OPTIONS', '/books')
    await send('PATCH', `/books/${book._id}`, { json: { price: 11 } })
    await send('POST', '/books', { json: { title: 'b', price: 1 } })
    await send('DELETE', `/books/${book._id}`)
    expect(entries()).toEqual([])
  })
})
