import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { memoryCache } from '../../adapters/caches/memory.ts'
import { runs } from '../runs.ts'
import { library } from './library.ts'

const many = <T>(count: number, work: (at: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, at) => work(at)))

describe('single flight', () => {
  it('200 identical reads of a cold key ask the database once', async () => {
    const { get, store, book, query } = await library()
    for (const read of [
      () => get('/books'),
      () => get(`/books/${book._id}`),
      () => query({ filter: { price: 10 } }),
    ]) {
      const before = store.reads
      const answers = await many(200, read)
      expect(store.reads - before).toBe(1)
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
      expect(new Set(answers.map(({ headers }) => headers.get('x-request-id'))).size).toBe(200)
    }
  })

  it('users, roles and scopes have flights of their own', async () => {
    const { get, store } = await library({
      scope: (request) => ({ title: request.headers.get('x-title') ?? 'Ancillary Justice' }),
      cache: { vary: (request) => request.headers.get('x-user') ?? '' },
    })
    const people = [
      {},
      { 'x-user': 'ann' },
      { 'x-user': 'bob' },
      { 'x-user': 'bob', 'x-title': 'Another' },
    ] as Record<string, string>[]
    const before = store.reads
    const answers = await many(80, (at) => get('/books', people[at % people.length]))
    expect(store.reads - before).toBe(people.length)
    for (const [at, { records }] of answers.entries()) {
      expect(records).toHaveLength(at % people.length === 3 ? 0 : 1)
    }
  })

  it('a read whose answer is not kept is shared with nobody', async () => {
    let asked = 0
    const { get } = await library({
      onGet: () => {
        asked += 1
        throw new Error('no choice')
      },
    })
    await many(10, () => get('/books'))
    expect(asked).toBe(10)
  })

  it('a read that does not end holds others for ten seconds at most', async () => {
    const { get, store } = await library()
    const now = vi.spyOn(performance, 'now')
    onTestFinished(() => now.mockRestore())
    let reads = 0
    store.onRead = () => {
      reads += 1
      return reads === 1 ? new Promise<void>(() => {}) : undefined
    }
    void get('/books')
    await vi.waitUntil(() => reads === 1)
    const later = performance.now() + 10_000
    now.mockReturnValue(later)
    expect((await get('/books')).status).toBe(200)
    expect(reads).toBe(2)
  })

  it('one failure is not everybody’s: the others ask for themselves', async () => {
    const { get, store } = await library()
    let failures = 1
    store.onRead = () => {
      failures -= 1
      if (failures >= 0) throw new Error('a connection was cut')
    }
    const answers = await many(20, () => get('/books'))
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([...Array<number>(19).fill(200), 500])
  })

  it('a read that begins after a write does not join one that began before it', async () => {
    const { get, send, store, book } = await library()
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const began = new Promise<void>((resolve) => {
      store.onRead = () => {
        resolve()
        return held
      }
    })
    const early = many(5, () => get('/books'))
    await began
    store.onRead = undefined
    await send('PATCH', `/books/${book._id}`, { json: { price: 11 } })
    const late = await many(5, () => get('/books'))
    release()
    for (const { records } of late) expect(records).toMatchObject([{ price: 11 }])
    for (const { records } of await early) expect(records).toMatchObject([{ price: 10 }])
    expect((await get('/books')).records).toMatchObject([{ price: 11 }])
  })
})

const KEYS = runs(100_000)

describe('the bound of the cache in memory', () => {
  it('holds for a hundred thousand keys, by number and by bytes', async () => {
    const few = memoryCache({ maxEntries: 1000 })
    const small = memoryCache({ maxEntries: KEYS, maxBytes: 1_000_000 })
    const value = 'x'.repeat(100)
    for (let at = 0; at < KEYS; at += 1) {
      await few.set(`key ${at}`, value, 60)
      await small.set(`key ${at}`, value, 60)
    }
    const kept = async (cache: typeof few) => {
      let count = 0
      for (let at = 0; at < KEYS; at += 1) if (await cache.get(`key ${at}`)) count += 1
      return count
    }
    expect(await kept(few)).toBe(1000)
    const bytes = (await kept(small)) * 2 * value.length
    expect(bytes).toBeGreaterThan(200_000)
    expect(bytes).toBeLessThan(1_000_000)
  })

  it('holds for distinct questions to an app, which goes on to answer them', async () => {
    const { get, xCache } = await library({ cache: { store: memoryCache({ maxEntries: 50 }) } })
    const below = (price: number) =>
      `/books?compareField=price&compareOperator=lt&compareValue=${price}`
    for (let at = 0; at < 500; at += 1) {
      expect((await get(below(11 + at))).records).toHaveLength(1)
    }
    expect(await xCache(below(510))).toBe('HIT')
    expect(await xCache(below(11))).toBe('MISS')
  })
})
