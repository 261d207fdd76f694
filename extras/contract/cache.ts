/** The promises of every cache store: each sentence of src/ports/services/cache.ts as a check. It runs in any runtime. */

import type { CacheStore } from '../../src/ports/services/cache.ts'
import { equal, ok } from './assert.ts'
import type { Contract } from './verify.ts'

/** A cache, and another user of it. */
export interface OpenCache {
  readonly cache: CacheStore
  /** Another handle on the same cache, as another instance would have; leave it out if there cannot be one. */
  readonly other?: CacheStore
}

const LONG = 3600

/** A key that no other check uses: checks share their server. */
function newKey(): string {
  return `contract:${crypto.randomUUID()}`
}

/** Lets timers run: a cache may use them to read the clock. */
const aMoment = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 10))

async function isAbsent(cache: CacheStore, key: string): Promise<boolean> {
  return ((await cache.get(key)) ?? undefined) === undefined
}

/** Strings that a client or a server might mistake for something else. */
const TEXTS = [
  '{"success":true,"data":{"n":1}}',
  '[1,2]',
  '"quoted"',
  '0012',
  '1e400',
  'null',
  'true',
  'OK',
  'a\nb\r\nc\td\u0000e',
  'São Tomé, Łódź, 東京, 🏙️',
  '{"lone":"\\ud800"}',
  ' spaces at both ends ',
  'x'.repeat(1024 * 1024),
  'é'.repeat(300_000),
]

/** The cache contract; its checks may share a cache. */
export const cacheContract: Contract<OpenCache> = {
  async 'a key that was never set is absent'({ cache }) {
    ok(await isAbsent(cache, newKey()))
  },
  async 'a value comes back as it was set'({ cache }) {
    for (const text of TEXTS) {
      const key = newKey()
      await cache.set(key, text, LONG)
      ok((await cache.get(key)) === text, `${text.slice(0, 40)} came back as something else`)
    }
  },
  async 'keys may hold any text and are told apart to the last character'({ cache }) {
    const start = newKey()
    const ends = ['', ':', '*', '["a","b c"]', '["a","b  c"]', 'é', 'É', '\n', '%00', '/../x']
    await Promise.all(ends.map((end, at) => cache.set(start + end, String(at), LONG)))
    for (const [at, end] of ends.entries()) equal(await cache.get(start + end), String(at))
  },
  async 'a value replaces the one before it'({ cache }) {
    const key = newKey()
    for (const value of ['first, and longer', 'second', 'third']) {
      await cache.set(key, value, LONG)
      equal(await cache.get(key), value)
    }
  },
  async 'peek, if there is one, finds what get finds'({ cache }) {
    if (!cache.peek) return
    const key = newKey()
    ok(cache.peek(key) === undefined)
    for (const value of ['first', 'second']) {
      await cache.set(key, value, LONG)
      equal(cache.peek(key), value)
    }
  },
  async 'a value is gone when its time is up, and not before'({ cache }) {
    const key = newKey()
    await cache.set(key, 'short', 1)
    const start = performance.now()
    equal(await cache.get(key), 'short')
    if (cache.peek) equal(cache.peek(key), 'short')
    while (!(await isAbsent(cache, key))) {
      ok(performance.now() - start < 5000, 'still there after five seconds')
      await aMoment()
    }
    ok(performance.now() - start > 900, 'gone before its time')
  },
  async 'a new value has its own time'({ cache }) {
    const [key, witness] = [newKey(), newKey()]
    await cache.set(key, 'short', 1)
    await cache.set(witness, 'short', 1)
    await cache.set(key, 'long', LONG)
    while (!(await isAbsent(cache, witness))) await aMoment()
    equal(await cache.get(key), 'long')
  },
  async 'values never mix, however many calls are under way'({ cache }) {
    const keys = Array.from({ length: 200 }, newKey)
    await Promise.all(keys.map((key) => cache.set(key, `value of ${key}`, LONG)))
    const values = await Promise.all(keys.map((key) => cache.get(key)))
    for (const [at, key] of keys.entries()) equal(values[at], `value of ${key}`)
  },
  async 'of values set at the same time one whole one stays'({ cache }) {
    const key = newKey()
    const values = ['a', 'b', 'c'].map((letter) => letter.repeat(50_000))
    await Promise.all(values.map((value) => cache.set(key, value, LONG)))
    ok(values.includes((await cache.get(key)) ?? ''))
  },
  async 'what one handle has set and was told so, every handle gets'({ cache, other }) {
    ok(other, 'the suite needs a second handle')
    const key = newKey()
    for (let turn = 0; turn < 100; turn += 1) {
      await cache.set(key, `mine ${turn}`, LONG)
      equal(await other.get(key), `mine ${turn}`)
      await other.set(key, `theirs ${turn}`, LONG)
      equal(await cache.get(key), `theirs ${turn}`)
    }
  },
  async 'counts are exact, whichever handles count at the same time'({ cache, other = cache }) {
    if (!cache.increment) return
    const key = newKey()
    const counting = Array.from({ length: 200 }, (_, at) =>
      (at % 2 === 0 ? cache : other).increment?.(key, LONG),
    )
    const counts = (await Promise.all(counting)).sort((a, b) => Number(a) - Number(b))
    equal(counts.join(), Array.from({ length: 200 }, (_, at) => at + 1).join())
  },
  async 'a count goes on from a number that was set'({ cache }) {
    if (!cache.increment) return
    const key = newKey()
    await cache.set(key, '0', LONG)
    equal(await cache.increment(key, LONG), 1)
    equal(await cache.get(key), '1')
  },
  async 'a count is gone when the time of its first step is up, and not before'({ cache }) {
    if (!cache.increment) return
    const key = newKey()
    const start = performance.now()
    equal(await cache.increment(key, 3), 1)
    equal(await cache.increment(key, LONG), 2)
    while (!(await isAbsent(cache, key))) {
      ok(performance.now() - start < 8000, 'still there after eight seconds')
      await aMoment()
    }
    ok(performance.now() - start > 2900, 'gone before its time')
    equal(await cache.increment(key, LONG), 1)
  },
  async 'closing twice is harmless'({ cache }) {
    await cache.get(newKey())
    await cache.close?.()
    await cache.close?.()
  },
}
