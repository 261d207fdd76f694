import { describe, expect, it } from 'vitest'
import { memoryCache } from '../../adapters/caches/memory.ts'
import { type CacheOptions, type CacheStore, createRouter } from '../../src/index.ts'
import { service } from '../records/service.ts'
import { faultyCache } from './faulty.ts'
import { BOOKS, Book, library } from './library.ts'

/** A cache that writes down for how long it is to keep what. */
function noted() {
  const inner = memoryCache()
  const seen: { key: string; value: string; ttl: number }[] = []
  const cache: CacheStore = {
    get: (key) => inner.get(key),
    set: (key, value, ttl) => {
      seen.push({ key, value, ttl })
      return inner.set(key, value, ttl)
    },
  }
  const entries = () => seen.filter(({ value }) => value.includes('"success":true'))
  return { cache, seen, entries }
}

async function kept(option: true | CacheOptions | undefined, env: Record<string, unknown> = {}) {
  const { cache, entries } = noted()
  const served = service({ cache, env })
  served.app.mount(
    '/books',
    createRouter({ model: Book, ...BOOKS, ...(option && { cache: option }) }),
  )
  await served.send('GET', '/books')
  return { xCache: (await served.send('GET', '/books')).headers.get('x-cache'), entries: entries() }
}

function mounted(
  cache: unknown,
  env: Record<string, unknown> = {},
  store?: CacheStore,
): () => void {
  const served = service({ env, ...(store && { cache: store }) })
  const router = createRouter({ model: Book, ...BOOKS, cache: cache as CacheOptions })
  return () => served.app.mount('/books', router)
}

describe('spec 4.4: the options of the cache', () => {
  it('keeps an answer for 60 seconds under keys that begin with cs:', async () => {
    const { xCache, entries } = await kept(true)
    expect(xCache).toBe('HIT')
    expect(entries).toHaveLength(1)
    expect(entries[0]).toMatchObject({ key: expect.stringMatching(/^cs:/), ttl: 60 })
  })

  it('takes ttl, prefix and namespace from the router, before the environment', async () => {
    const env = { CACHE_TTL: '7', CACHE_PREFIX: 'env:' }
    const [fromEnv] = (await kept(true, env)).entries
    expect(fromEnv).toMatchObject({ ttl: 7, key: expect.stringMatching(/^env:/) })
    const own = { ttl: 9, prefix: 'own:', namespace: 'blue' }
    const [fromRouter] = (await kept(own, env)).entries
    expect(fromRouter).toMatchObject({ ttl: 9, key: expect.stringMatching(/^own:.*blue/) })
  })

  it('is off unless a router asks for it, or the environment does for all that say nothing', async () => {
    expect((await kept(undefined)).xCache).toBeNull()
    expect((await kept(undefined, { CACHE_ENABLED: '' })).xCache).toBeNull()
    expect((await kept(undefined, { CACHE_ENABLED: 'true' })).xCache).toBe('HIT')
    expect((await kept(true, { CACHE_ENABLED: 'no' })).xCache).toBeNull()
    expect((await kept({ ttl: 5 }, { CACHE_ENABLED: '0' })).xCache).toBeNull()
  })

  it('a router may have a store of its own', async () => {
    const { cache, entries } = noted()
    const { get, xCache, send, book } = await library({ cache: { store: cache } })
    await get('/books')
    expect(await xCache('/books')).toBe('HIT')
    expect(entries()).toHaveLength(1)
    await send('PATCH', `/books/${book._id}`, { json: { price: 11 } })
    expect((await get('/books')).records).toMatchObject([{ price: 11 }])
  })

  it.each(['setEx', 'setex'])('a router takes a client of Redis with %s', async (name) => {
    const inner = memoryCache()
    const sets: string[] = []
    const client = {
      get: (key: string) => inner.get(key),
      [name]: (key: string, seconds: number, value: string) => {
        sets.push(key)
        return inner.set(key, value, seconds)
      },
    }
    const served = service()
    for (const path of ['/books', '/more', '/others']) {
      served.app.mount(path, createRouter({ model: Book, ...BOOKS, cache: { client } }))
    }
    for (const path of ['/books', '/more', '/others']) {
      await served.send('GET', path)
      expect((await served.send('GET', path)).headers.get('x-cache')).toBe('HIT')
    }
    sets.length = 0
    await served.send('POST', '/books', { json: { title: 'a', price: 1 } })
    // The mark of the write and the new version: once for the client, however many routers have it.
    expect(sets).toHaveLength(2)
    expect((await served.send('GET', '/others')).records).toHaveLength(1)
  })

  it.each([
    [
      'ioredis',
      { options: { autoResendUnfulfilledCommands: true } },
      'autoResendUnfulfilledCommands: false',
    ],
    ['@upstash/redis', { client: { retry: { attempts: 5 } } }, 'retry: { retries: 0 }'],
    ['redis', { options: { socket: {} } }, undefined],
  ])('warns once of a client of %s that sends commands again', (_, settings, once) => {
    const client = { ...settings, get: async () => null, setEx: async () => 'OK' }
    const { app, log } = service()
    for (const path of ['/books', '/more']) {
      app.mount(path, createRouter({ model: Book, ...BOOKS, cache: { client } }))
    }
    const warned = log.lines
      .map(({ message }) => message)
      .filter((line) => line.includes('cache.client'))
    expect(warned).toEqual(once ? [expect.stringContaining(`Write new Redis({ ${once} })`)] : [])
  })

  it.each<[unknown, string]>([
    [{ ttl: 0 }, `'cache.ttl' must be a whole number of seconds, at least 1`],
    [{ ttl: 1.5 }, `'cache.ttl' must be a whole number of seconds, at least 1`],
    [{ ttl: '60' }, `'cache.ttl' must be a whole number of seconds, at least 1`],
    [{ timeoutMs: -1 }, `'cache.timeoutMs' must be a whole number of milliseconds, at least 1`],
    [{ prefix: 1 }, `'cache.prefix' must be a string`],
    [{ namespace: null }, `'cache.namespace' must be a string`],
    [{ vary: 'user' }, `'cache.vary' must be a function`],
    [{ tll: 5 }, `unknown option 'cache.tll'`],
    [{ store: {} }, `'cache.store' must have the functions get and set`],
    [{ client: {} }, `'cache.client' must be a Redis client`],
    [{ client: null }, `'cache.client' must be a Redis client`],
    [{ store: memoryCache(), client: {} }, `'cache' takes only one of 'store', 'client' and 'url'`],
    [
      { url: 'redis://secret@cache' },
      `'cache.url' opens no connection. Write createApp({ cache: redisCache(`,
    ],
    [{ url: 'https://cache' }, `upstashCache(`],
    ['yes', `'cache' must be true, false or an object`],
    [null, `'cache' must be true, false or an object`],
    [['x'], `unknown option 'cache.0'`],
  ])('%o is refused at start-up', (option, message) => {
    expect(mounted(option, {}, memoryCache())).toThrow(`Router '/books': `)
    expect(mounted(option, {}, memoryCache())).toThrow(message)
  })

  it.each<[Record<string, string>, string]>([
    [{}, `'cache' has no store. Write createApp({ cache: memoryCache() })`],
    [
      { REDIS_URL: 'redis://:secret@cache' },
      `though REDIS_URL is set. Write createApp({ cache: redisCache({ url: env.REDIS_URL }) })`,
    ],
    [
      { UPSTASH_REDIS_REST_URL: 'https://cache' },
      `upstashCache({ url: env.UPSTASH_REDIS_REST_URL, token: env.UPSTASH_REDIS_REST_TOKEN })`,
    ],
  ])('without a store and with %o it says which line to write', (env, message) => {
    expect(mounted(true, env)).toThrow(message)
    expect(mounted(true, env)).not.toThrow('secret')
  })

  it.each([
    [{ CACHE_TTL: '0' }, 'CACHE_TTL must be a whole number of seconds'],
    [{ CACHE_TTL: 'an hour' }, 'CACHE_TTL must be a whole number of seconds'],
    [{ CACHE_ENABLED: 'maybe' }, 'CACHE_ENABLED must be true or false'],
  ])('the environment %o is refused at start-up', (env, message) => {
    expect(() => mounted(true, env, faultyCache())()).toThrow(message)
  })
})
