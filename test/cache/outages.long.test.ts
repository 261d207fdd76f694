import { once } from 'node:events'
import { MessageChannel } from 'node:worker_threads'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { fenceSchema } from '../../src/cache/write-fences.ts'
import { createRouter } from '../../src/index.ts'
import { everything } from '../../src/ports/store/filter.ts'
import { ownTime } from '../own-time.ts'
import { type Service, service } from '../records/service.ts'
import { type Fault, faultyCache } from './faulty.ts'
import { BOOKS, Book, counted, type Library, library } from './library.ts'

const FAULTS: readonly Exclude<Fault, 'none'>[] = ['down', 'hanging', 'garbage', 'full']
const TIMEOUT_MS = 40
const now = ownTime()

const unhandled: unknown[] = []
const note = (reason: unknown) => void unhandled.push(reason)
beforeAll(() => void process.on('unhandledRejection', note))
afterAll(() => {
  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
})

/** Two instances of one app, over one database and one cache. */
async function instances(): Promise<{ one: Library; other: Service }> {
  const store = counted({ ...sqliteStore(), close: async () => {} })
  const cache = faultyCache()
  const one = await library({ cache: { timeoutMs: TIMEOUT_MS } }, { store, cache })
  return { one, other: instance(one) }
}

/** Another instance, or the same one after a restart. */
function instance({ store, cache }: Library): Service {
  const served = service({ store, cache })
  const options = { model: Book, ...BOOKS, cache: { timeoutMs: TIMEOUT_MS } }
  served.app.mount('/books', createRouter(options))
  return served
}

async function price({ send }: Pick<Service, 'send'>): Promise<unknown> {
  return (await send('GET', '/books')).records[0]?.price
}

describe('a write while the cache is away', () => {
  it.each(FAULTS)('is shown when the cache, which was %s, is back', async (fault) => {
    const { one, other } = await instances()
    for (const reader of [one, other, one]) expect(await price(reader)).toBe(10)
    one.cache.fault = fault
    const answer = await one.send('PATCH', `/books/${one.book._id}`, { json: { price: 11 } })
    expect(answer.status).toBe(200)
    for (const reader of [one, other, instance(one)]) expect(await price(reader)).toBe(11)
    one.cache.fault = 'none'
    for (let time = 0; time < 3; time += 1) {
      for (const reader of [one, other, instance(one)]) expect(await price(reader)).toBe(11)
    }
    // And the cache is of use again.
    expect((await other.send('GET', '/books')).headers.get('x-cache')).toBe('HIT')
    expect(await one.xCache('/books')).toBe('HIT')
  })

  it('is shown by an instance that could reach the cache all the time', async () => {
    const { one } = await instances()
    const near = faultyCache(one.cache)
    const writer = service({ store: one.store, cache: near })
    const stored = writer.app.store.collection(Book)
    expect(await price(one)).toBe(10)
    expect(await price(one)).toBe(10)
    near.fault = 'down'
    for (const next of [11, 12, 13]) {
      await stored.update(String(one.book._id), { price: next })
      for (let time = 0; time < 3; time += 1) expect(await price(one)).toBe(next)
    }
  })

  it('is shown after a crash of the instance that wrote it, and a restart', async () => {
    const { one, other } = await instances()
    expect(await price(other)).toBe(10)
    one.cache.fault = 'down'
    await one.send('PATCH', `/books/${one.book._id}`, { json: { price: 11 } })
    // Nothing of the first instance is left but what it has written down.
    one.cache.fault = 'none'
    const next = instance(one)
    for (let time = 0; time < 3; time += 1) expect(await price(next)).toBe(11)
    expect(await price(other)).toBe(11)
  })

  it('is shown though the cache fails after the mark, and nothing old is met before that either', async () => {
    const { one, other } = await instances()
    expect(await price(other)).toBe(10)
    const { set } = one.cache
    one.cache.set = async (key, value, ttl) => {
      if (value.startsWith('v')) throw new Error('gone')
      return set(key, value, ttl)
    }
    await one.send('PATCH', `/books/${one.book._id}`, { json: { price: 11 } })
    one.cache.set = set
    for (let time = 0; time < 3; time += 1) {
      for (const reader of [one, other]) expect(await price(reader)).toBe(11)
    }
  })

  it('that the database could not note either is no success', async () => {
    const { one } = await instances()
    expect(await price(one)).toBe(10)
    const broken = {
      ...one.store,
      collection: (schema: Parameters<typeof one.store.collection>[0]) => {
        const inner = one.store.collection(schema)
        const fail = async () => {
          throw new Error('the database is gone')
        }
        return schema.name === 'fieldgate_fences' ? { ...inner, update: fail, insert: fail } : inner
      },
    }
    const writer = service({ store: broken, cache: one.cache })
    writer.app.mount(
      '/books',
      createRouter({ model: Book, ...BOOKS, cache: { timeoutMs: TIMEOUT_MS } }),
    )
    one.cache.fault = 'down'
    const answer = await writer.send('PATCH', `/books/${one.book._id}`, { json: { price: 11 } })
    expect(answer.status).toBe(500)
  })
})

describe('reads while the cache is away', () => {
  it.each(FAULTS)('are answered by the database, the cache being %s', async (fault) => {
    const { one } = await instances()
    await price(one)
    one.cache.fault = fault
    for (const path of ['/books', '/books?page=1', `/books/${one.book._id}`, '/books?title=x']) {
      const start = now()
      const answer = await one.get(path)
      expect(answer.status).toBe(200)
      expect(now() - start).toBeLessThan(2000)
      if (fault !== 'full') expect(answer.headers.get('x-cache')).not.toBe('HIT')
      if (fault === 'down' || fault === 'hanging') expect(answer.headers.has('x-cache')).toBe(false)
    }
    one.cache.fault = 'none'
    await one.get('/books')
    await one.get('/books')
    expect(await one.xCache('/books')).toBe('HIT')
  })

  it('are answered without X-Cache while a write is under way too', async () => {
    const store = counted(sqliteStore())
    const { collection } = store
    const held = Promise.withResolvers<void>()
    const writing = Promise.withResolvers<void>()
    store.collection = (schema) => {
      const inner = collection(schema)
      if (schema.name === 'fieldgate_fences') return inner
      const update: typeof inner.update = async (...asked) => {
        writing.resolve()
        await held.promise
        return inner.update(...asked)
      }
      return { ...inner, update }
    }
    const { get, send, cache, book } = await library({}, { store })
    cache.fault = 'down'
    const write = send('PATCH', `/books/${book._id}`, { json: { price: 11 } })
    await writing.promise
    for (const path of ['/books', `/books/${book._id}`]) {
      expect((await get(path)).headers.has('x-cache')).toBe(false)
    }
    held.resolve()
    expect((await write).status).toBe(200)
  })

  it('take no longer than the database and the 150 ms of the default, and hardly longer after the first', async () => {
    const { get, cache } = await library()
    cache.fault = 'hanging'
    const [start, own] = [performance.now(), now()]
    expect((await get('/books')).status).toBe(200)
    expect(performance.now() - start).toBeGreaterThan(140)
    expect(now() - own).toBeLessThan(2000)
    // One of them finds out whether the cache is back, the others do not wait for it.
    const before = cache.calls.length
    await Promise.all(Array.from({ length: 50 }, () => get('/books')))
    // An entry and a version, for one of the fifty.
    expect(cache.calls.length - before).toBe(2)
  })

  it('are not slowed by a cache that is slow to keep, beyond the time that it has', async () => {
    const { get, cache } = await library({ cache: { timeoutMs: TIMEOUT_MS } })
    const { set } = cache
    cache.set = (key, value, ttl) =>
      key.startsWith('cs:a') ? new Promise<void>(() => {}) : set(key, value, ttl)
    const start = now()
    expect((await get('/books')).headers.get('x-cache')).toBe('MISS')
    expect(now() - start).toBeLessThan(2000)
  })

  it('go on with the cache when it refuses a response, or takes long to keep it', async () => {
    const { store, get, send, cache, book, log } = await library({
      cache: { timeoutMs: TIMEOUT_MS },
    })
    await get('/books')
    const { set } = cache
    const refusals = [() => Promise.reject(new Error('ERR too large')), () => new Promise(() => {})]
    for (const refuse of refusals) {
      cache.set = (key, value, ttl) => (key.includes('page') ? refuse() : set(key, value, ttl))
      await get('/books')
      expect((await get('/books?page=7')).headers.get('x-cache')).toBe('MISS')
      const both = await Promise.all([get('/books'), get('/books')])
      expect(both.map(({ headers }) => headers.get('x-cache'))).toEqual(['HIT', 'HIT'])
      await get('/books?page=7')
      const write = send('PATCH', `/books/${book._id}`, { json: { price: 12 } })
      await Promise.all([get('/books'), write])
      cache.set = set
    }
    const warnings = log.lines.filter(({ level }) => level === 'warn')
    const messages = warnings
      .map(({ message }) => message)
      .filter((text) => text.startsWith('the cache'))
    expect(messages).toEqual(['the cache has not kept a response'])
    // No write left a note.
    const notes = store.collection(fenceSchema)
    expect(await notes.count(everything)).toBe(0)
  })

  it('log one warning in 30 seconds, without keys and records', async () => {
    const { get, cache, log, clock } = await library()
    const warnings = () => log.lines.filter(({ level }) => level === 'warn')
    const before = warnings().length
    cache.fault = 'down'
    for (let time = 0; time < 10; time += 1) await get('/books')
    expect(warnings().slice(before)).toMatchObject([
      { message: 'the cache cannot be reached; reads go to the database' },
    ])
    clock.at += 29_000
    await get('/books')
    expect(warnings().length - before).toBe(1)
    clock.at += 2000
    await get('/books')
    expect(warnings().length - before).toBe(2)
    expect(log.lines.filter(({ level }) => level === 'error')).toEqual([])
    expect(log.text).not.toMatch(/cs:|Ancillary/)
  })

  it('a cache whose reply came while the process was busy is not away', async () => {
    const { get, xCache, cache } = await library({ cache: { timeoutMs: TIMEOUT_MS } })
    await get('/books')
    const { get: asked } = cache
    cache.get = (key) => {
      // A message is there at once, and is read after timers, as a reply is.
      const { port1, port2 } = new MessageChannel()
      const reply = once(port2, 'message').then(() => asked(key))
      port1.postMessage('a reply')
      onTestFinished(() => port1.close())
      const end = performance.now() + 2 * TIMEOUT_MS
      while (performance.now() < end);
      return reply
    }
    expect(await xCache('/books')).toBe('HIT')
  })

  it('a cache that throws at once, or gives no promise, is one that is away', async () => {
    const { get, cache, send, book } = await library()
    cache.get = () => {
      throw new Error('now')
    }
    expect((await get('/books')).status).toBe(200)
    cache.set = (() => 'done') as unknown as typeof cache.set
    expect((await send('PATCH', `/books/${book._id}`, { json: { price: 12 } })).status).toBe(200)
    expect((await get('/books')).records).toMatchObject([{ price: 12 }])
  })
})
