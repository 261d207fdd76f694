import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { memoryCache } from '../../adapters/caches/memory.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createRouter, defineModel, ref } from '../../src/index.ts'
import type { Collection, CollectionSchema } from '../../src/ports/store/store.ts'
import { service } from '../records/service.ts'
import { faultyCache } from './faulty.ts'
import { Author, BOOKS, Book, counted, type Library, library } from './library.ts'

/** A wait that is ended from outside. */
function gate() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, opened }
}

async function prices({ get }: Pick<Library, 'get'>, headers = {}) {
  return (await get('/books', headers)).records.map(({ price }) => price)
}

describe('a write that is under way', () => {
  it('keeps its mark, also if a read finds it that began before', async () => {
    const [asked, found, written] = [gate(), gate(), gate()]
    const store = counted(sqliteStore())
    const slow = {
      ...store,
      collection(schema: CollectionSchema) {
        const own = store.collection(schema)
        const update: Collection['update'] = async (...given) => {
          await written.opened
          return own.update(...given)
        }
        return { ...own, update }
      },
    }
    const inner = memoryCache()
    const cache = faultyCache(inner)
    const books = await library({ cache: { timeoutMs: 10_000 } }, { cache, store: slow })
    const { get } = cache
    cache.get = async (key) => {
      asked.open()
      await found.opened
      return get(key)
    }
    const before = cache.calls.length
    const reading = books.get('/books')
    await asked.opened
    const writing = books.send('PATCH', `/books/${books.book._id}`, { json: { price: 2 } })
    const marked = () => cache.calls.slice(before).find(({ name }) => name === 'set')?.key ?? ''
    await expect.poll(marked).not.toBe('')
    found.open()
    expect((await reading).headers.get('x-cache')).toBe('MISS')
    expect(await inner.get(marked())).toMatch(/^w/)
    written.open()
    expect((await writing).status).toBe(200)
    expect(await inner.get(marked())).toMatch(/^v/)
  })
})

describe('after a write was answered no read shows what was there before', () => {
  it.each([
    [
      'POST',
      async ({ send }: Library) => send('POST', '/books', { json: { title: 'b', price: 2 } }),
    ],
    [
      'PATCH',
      async ({ send, book }: Library) =>
        send('PATCH', `/books/${book._id}`, { json: { price: 2 } }),
    ],
    ['DELETE', async ({ send, book }: Library) => send('DELETE', `/books/${book._id}`)],
    [
      'insert',
      async ({ app }: Library) => app.store.collection(Book).insert({ title: 'b', price: 2 }),
    ],
    [
      'update',
      async ({ app, book }: Library) =>
        app.store.collection(Book).update(String(book._id), { price: 2 }),
    ],
    [
      'updateWhere',
      async ({ app }: Library) => app.store.collection(Book).updateWhere({}, { price: 2 }),
    ],
    [
      'delete',
      async ({ app, book }: Library) => app.store.collection(Book).delete(String(book._id)),
    ],
  ])('%s clears lists, queries and records of its model for everybody', async (_name, write) => {
    const books = await library()
    const { get, query, book, app } = books
    const users = [{}, { 'x-user': 'ann' }] as Record<string, string>[]
    const readAll = () =>
      Promise.all(
        users.flatMap((user) => [
          get('/books', user),
          get('/books?page=1', user),
          get(`/books/${book._id}`, user),
          query({ sort: 'price' }, user),
        ]),
      )
    await readAll()
    for (const answer of await readAll()) expect(answer.headers.get('x-cache')).toBe('HIT')
    await write(books)
    const now = await app.store.collection(Book).find({}, { sort: 'price' })
    for (const [at, answer] of (await readAll()).entries()) {
      const shown = at % 4 === 2 ? [answer.body.data].filter(Boolean) : answer.records
      const expected = at % 4 === 2 ? now.filter(({ _id }) => _id === book._id) : now
      expect(shown).toHaveLength(expected.length)
      expect(shown).toEqual(expect.arrayContaining(expected.map((record) => ({ ...record }))))
      expect(answer.headers.get('x-cache')).not.toBe('HIT')
    }
  })

  it('a write clears every router of its model, and leaves those of others alone', async () => {
    const books = await library()
    books.app.mount('/shop', createRouter({ model: Book, ...BOOKS, cache: { prefix: 'shop:' } }))
    for (const path of ['/books', '/shop', '/authors']) await books.get(path)
    await books.send('PATCH', `/books/${books.book._id}`, { json: { price: 3 } })
    expect(await books.xCache('/authors')).toBe('HIT')
    expect((await books.get('/shop')).records).toMatchObject([{ price: 3 }])
    expect(await prices(books)).toEqual([3])
  })

  it('a refused write clears nothing', async () => {
    const { get, xCache, send } = await library()
    await get('/books')
    expect((await send('POST', '/books', { json: { title: 1 } })).status).toBe(400)
    expect(await xCache('/books')).toBe('HIT')
  })

  it('a failed write leaves nothing that it may have changed', async () => {
    const { get, send, book, app } = await library()
    await app.store.collection(Book).insert({ title: 'b', price: 2, code: 'taken' })
    await get('/books')
    const path = `/books/${book._id}`
    expect((await send('PATCH', path, { json: { code: 'taken' } })).status).toBe(409)
    expect((await get('/books')).records).toHaveLength(2)
  })

  it('what is filled in and searched through a reference is cleared by writes of its target', async () => {
    const books = await library({
      onGet: () => ({ populate: 'author' }),
      search: ['title', 'author.name'],
    })
    const { get, send, author, book } = books
    const paths = ['/books', '/books?s=leckie', `/books/${book._id}`]
    for (const path of paths) expect((await get(path)).text).toContain('Ann Leckie')
    for (const path of paths) expect(await books.xCache(path)).toBe('HIT')
    await send('PATCH', `/authors/${author._id}`, { json: { name: 'A. Leckie' } })
    for (const path of paths) expect((await get(path)).text).toContain('"A. Leckie"')
    await send('PATCH', `/authors/${author._id}`, { json: { name: 'Nobody' } })
    expect((await get('/books?s=leckie')).records).toEqual([])
    await send('DELETE', `/authors/${author._id}`)
    expect((await get(`/books/${book._id}`)).record.author).toBeNull()
  })

  it('a search through a reference alone is cleared by its target, in another instance too', async () => {
    const store = counted({ ...sqliteStore(), close: async () => {} })
    const cache = faultyCache()
    const search = ['author.name'] as const
    const one = await library({ search }, { store, cache })
    const other = service({ store, cache })
    other.app.mount('/books', createRouter({ model: Book, ...BOOKS, search, cache: true }))
    expect((await one.get('/books?s=leckie')).records).toHaveLength(1)
    expect(await one.xCache('/books?s=leckie')).toBe('HIT')
    await other.app.store.collection(Author).updateWhere({}, { name: 'Nobody' })
    expect((await one.get('/books?s=leckie')).records).toEqual([])
  })

  it('references in lists and in nested objects count too', async () => {
    const Tag = defineModel('CachedTag', { fields: { name: z.string() } })
    const Post = defineModel('CachedPost', {
      fields: { tags: z.array(ref('CachedTag')), meta: z.object({ main: ref('CachedTag') }) },
    })
    const { app, send } = service({ cache: faultyCache() })
    const tag = await app.store.collection(Tag).insert({ name: 'old' })
    await app.store.collection(Post).insert({ tags: [tag._id], meta: { main: tag._id } })
    for (const populate of ['tags', 'meta.main'] as const) {
      const router = createRouter({
        model: Post,
        allowedFields: [],
        cache: true,
        onGet: () => ({ populate }),
      })
      app.mount(`/${populate}`, router)
    }
    app.mount('/by-tag', createRouter({ model: Tag, allowedFields: ['name'] }))
    for (const path of ['/tags', '/meta.main'])
      expect((await send('GET', path)).text).toContain('old')
    await send('PATCH', `/by-tag/${tag._id}`, { json: { name: 'new' } })
    for (const path of ['/tags', '/meta.main'])
      expect((await send('GET', path)).text).toContain('new')
  })

  it('a slow read that began before a write keeps its answer for nobody', async () => {
    const books = await library()
    const { store, send, book } = books
    const slow = gate()
    const began = gate()
    store.onRead = () => {
      began.open()
      return slow.opened
    }
    const early = prices(books)
    await began.opened
    store.onRead = undefined
    await send('PATCH', `/books/${book._id}`, { json: { price: 2 } })
    slow.open()
    expect(await early).toEqual([10])
    for (let time = 0; time < 3; time += 1) expect(await prices(books)).toEqual([2])
  })

  it('an entry that reaches the cache long after the write is met by nobody', async () => {
    const books = await library({ cache: { timeoutMs: 1 } })
    const { cache, send, book } = books
    const late = gate()
    const { set } = cache
    cache.set = async (key, value, ttl) => {
      if (key.startsWith('cs:a')) await late.opened
      return set(key, value, ttl)
    }
    await prices(books)
    cache.set = set
    await send('PATCH', `/books/${book._id}`, { json: { price: 2 } })
    late.open()
    await delay(0)
    for (let time = 0; time < 3; time += 1) expect(await prices(books)).toEqual([2])
  })

  it('nothing is met or kept while a write is under way, in another instance either', async () => {
    const store = counted({ ...sqliteStore(), close: async () => {} })
    const cache = faultyCache()
    const one = await library({}, { store, cache })
    const other = service({ store, cache })
    other.app.mount('/books', createRouter({ model: Book, ...BOOKS, cache: true }))
    await one.get('/books')
    const writing = gate()
    const finish = gate()
    const Slow: typeof store = {
      ...store,
      collection(schema) {
        const inner = store.collection(schema)
        return {
          ...inner,
          async updateMany(filter, change) {
            writing.open()
            await finish.opened
            return inner.updateMany(filter, change)
          },
        }
      },
    }
    const writer = service({ store: Slow, cache })
    const write = writer.app.store.collection(Book).updateWhere({}, { price: 2 })
    await writing.opened
    for (let time = 0; time < 2; time += 1) {
      expect(await one.xCache('/books')).toBe('MISS')
      expect((await other.send('GET', '/books')).headers.get('x-cache')).toBe('MISS')
    }
    finish.open()
    await write
    expect(await prices(one)).toEqual([2])
    expect((await other.send('GET', '/books')).records).toMatchObject([{ price: 2 }])
    expect(await one.xCache('/books')).toBe('HIT')
  })
})
