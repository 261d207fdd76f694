import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { type CacheOptions, createRouter, defineModel } from '../../src/index.ts'
import { type Service, service } from '../records/service.ts'
import { type FaultyCache, faultyCache } from './faulty.ts'
import { BOOKS, Book, counted, type Library, library } from './library.ts'

const TIMEOUT_MS = 40

/** An app whose book router names its answers in its own way, and the way to its price. */
async function reader(names: CacheOptions) {
  const store = counted({ ...sqliteStore(), close: async () => {} })
  const cache = { timeoutMs: TIMEOUT_MS, ...names }
  const books = await library({ cache }, { store, cache: faultyCache() })
  const path = `/books/${books.book._id}`
  const seen = async () => {
    const answer = await books.get(path)
    return [answer.headers.get('x-cache'), answer.record.price]
  }
  return { books, path, seen }
}

/** Another process over the same database and the same cache, reached in its own way. */
function writer({ store }: Library, cache: FaultyCache, own?: CacheOptions): Service {
  const served = service({ store, cache })
  served.app.mount('/books', createRouter({ model: Book, ...BOOKS, ...(own && { cache: own }) }))
  return served
}

const NAMES: readonly CacheOptions[] = [{}, { namespace: 'eu' }, { namespace: 'de' }]

describe('spec 4.4: a write clears every router, also of other processes and in other namespaces', () => {
  it.each(NAMES)('%o, where the writer has no cached router', async (names) => {
    const { books, path, seen } = await reader(names)
    const other = writer(books, books.cache)
    expect([await seen(), await seen()]).toEqual([
      ['MISS', 10],
      ['HIT', 10],
    ])
    expect((await other.send('PATCH', path, { json: { price: 11 } })).status).toBe(200)
    expect([await seen(), await seen()]).toEqual([
      ['MISS', 11],
      ['HIT', 11],
    ])
    await other.app.store.collection(Book).update(String(books.book._id), { price: 12 })
    expect(await seen()).toEqual(['MISS', 12])
  })

  it.each(NAMES)('%o, where the writer has another namespace', async (names) => {
    const { books, path, seen } = await reader(names)
    const other = writer(books, books.cache, { namespace: 'us' })
    await seen()
    expect(await seen()).toEqual(['HIT', 10])
    expect((await other.send('PATCH', path, { json: { price: 11 } })).status).toBe(200)
    expect(await seen()).toEqual(['MISS', 11])
  })

  it.each(NAMES)('%o, where the writer could not reach the cache', async (names) => {
    const { books, path, seen } = await reader(names)
    const far = faultyCache(books.cache)
    const other = writer(books, far)
    await seen()
    expect(await seen()).toEqual(['HIT', 10])
    far.fault = 'down'
    expect((await other.send('PATCH', path, { json: { price: 11 } })).status).toBe(200)
    for (let time = 0; time < 3; time += 1) expect((await seen())[1]).toBe(11)
    expect(await seen()).toEqual(['HIT', 11])
  })

  it('where the writer has a memory of its own beside the shared cache, which it could not reach', async () => {
    const { books, path, seen } = await reader({})
    const far = faultyCache(books.cache)
    const own = { ...faultyCache(), local: true }
    const other = writer(books, own, { store: far, timeoutMs: TIMEOUT_MS })
    await seen()
    expect(await seen()).toEqual(['HIT', 10])
    far.fault = 'down'
    expect((await other.send('PATCH', path, { json: { price: 11 } })).status).toBe(200)
    for (let time = 0; time < 3; time += 1) expect((await seen())[1]).toBe(11)
  })
})

describe('the names of routers', () => {
  it('cost a write nothing: the cache is told twice, whatever the number of namespaces', async () => {
    const { books, path } = await reader({})
    for (const [at, cache] of NAMES.entries()) {
      books.app.mount(`/more/${at}`, createRouter({ model: Book, ...BOOKS, cache }))
      await books.get(`/more/${at}`)
    }
    const before = books.cache.calls.length
    await books.send('PATCH', path, { json: { price: 11 } })
    // The mark of the write, and the new version.
    expect(books.cache.calls.slice(before).map(({ name }) => name)).toEqual(['set', 'set'])
  })

  it('are those of collections: a version of the app where the model has another name clears them too', async () => {
    const { books, path, seen } = await reader({})
    const Volume = defineModel('CacheVolume', {
      ...{ collection: Book.collection, fields: { title: z.string(), price: z.number() } },
    })
    const other = service({ store: books.store, cache: books.cache })
    const options = {
      model: Volume,
      allowedFields: ['price'],
      middlewares: [],
      cache: true,
    } as const
    other.app.mount('/books', createRouter(options))
    expect([await seen(), await seen()].map(([state]) => state)).toEqual(['MISS', 'HIT'])
    expect((await other.send('PATCH', path, { json: { price: 11 } })).status).toBe(200)
    expect([await seen(), await seen()]).toEqual([
      ['MISS', 11],
      ['HIT', 11],
    ])
    expect((await other.send('GET', path)).record.price).toBe(11)
    await books.send('PATCH', path, { json: { price: 12 } })
    expect((await other.send('GET', path)).record.price).toBe(12)
  })

  it('stand with what is kept and looked up under the prefix', async () => {
    const { books, path } = await reader({ prefix: 'api:', namespace: 'eu' })
    const before = books.cache.calls.length
    await books.get(path)
    await books.get(path)
    const keys = books.cache.calls.slice(before).map(({ key }) => key)
    expect(keys.filter((key) => !key.startsWith('api:'))).toEqual([])
    expect(keys.length).toBeGreaterThan(3)
  })

  it('leave apps with prefixes of their own alone: neither clears the other', async () => {
    const cache = faultyCache()
    const [one, two] = await Promise.all(
      ['one:', 'two:'].map((prefix) => library({}, { cache, env: { CACHE_PREFIX: prefix } })),
    )
    for (const books of [one, two]) await books?.get('/books')
    await one?.send('PATCH', `/books/${one.book._id}`, { json: { price: 11 } })
    expect(await two?.xCache('/books')).toBe('HIT')
    expect((await one?.get('/books'))?.records).toMatchObject([{ price: 11 }])
  })
})
