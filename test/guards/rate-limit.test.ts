/** `rateLimit`, in one process. Shared caches: rate-limit.slow.test.ts. */

import { describe, expect, it, vi } from 'vitest'
import { memoryCache } from '../../adapters/caches/memory.ts'
import { answerAsks } from '../../adapters/runtimes/processes/channel.ts'
import '../../adapters/runtimes/processes/shared.ts'
import { rateLimit } from '../../src/guards/index.ts'
import type { CacheStore } from '../../src/index.ts'
import { errorOf, notes } from './notes.ts'

/** A quarter of a minute after the beginning of one. */
const QUARTER = Date.UTC(2024, 2, 1, 12, 0, 15)
const by = (clientAddress: string) => ({ platform: { clientAddress } })
const fieldsOf = ({ headers }: Response) => [
  headers.get('ratelimit-policy'),
  headers.get('ratelimit'),
  headers.get('retry-after'),
]

describe('rateLimit', () => {
  it('counts down, refuses what is beyond the limit, and begins anew with the next window', async () => {
    let at = QUARTER
    const { ask } = notes([rateLimit({ limit: 2, windowSeconds: 60 })], { now: () => at })
    const policy = '"default";q=2;w=60'
    const send = () => ask('GET', '/notes', by('192.0.2.1'))
    expect(fieldsOf(await send())).toEqual([policy, '"default";r=1;t=45', null])
    expect(fieldsOf(await send())).toEqual([policy, '"default";r=0;t=45', null])
    at += 44_100
    const refused = await send()
    expect(fieldsOf(refused)).toEqual([policy, '"default";r=0;t=1', '1'])
    expect([refused.status, await errorOf(refused)]).toEqual([
      429,
      'Too many requests. Try again later.',
    ])
    at += 900
    expect(fieldsOf(await send())).toEqual([policy, '"default";r=1;t=60', null])
  })

  it('counts each client, of IPv6 each network of 64 bits', async () => {
    const { ask } = notes([rateLimit({ limit: 1, windowSeconds: 60 })], { now: () => QUARTER })
    const statuses = []
    for (const address of [
      '192.0.2.1',
      '192.0.2.2',
      '192.0.2.1',
      '2001:db8:0:1::1',
      '2001:db8:0:1:ffff::2',
      '2001:db8:0:2::1',
      // The first address once more, as others write it, and then another one of that kind.
      '::FFFF:c000:201',
      '0:0:0:0:0:ffff:192.0.2.1',
      '::ffff:c000:203',
    ]) {
      statuses.push((await ask('GET', '/notes', by(address))).status)
    }
    expect(statuses).toEqual([200, 200, 429, 200, 429, 200, 429, 429, 200])
  })

  it('counts failures, unknown paths and refusals too, and sends its fields with them', async () => {
    const { ask } = notes([rateLimit({ limit: 3, windowSeconds: 60 })], { now: () => QUARTER })
    const seen = []
    for (const path of ['/none', '/own/broken', '/notes/1', '/notes']) {
      const { status, headers } = await ask('GET', path, by('192.0.2.1'))
      seen.push([status, headers.get('ratelimit')])
    }
    expect(seen).toEqual([
      [404, '"default";r=2;t=45'],
      [500, '"default";r=1;t=45'],
      [400, '"default";r=0;t=45'],
      [429, '"default";r=0;t=45'],
    ])
  })

  it('takes a key of its own; requests without one are not limited', async () => {
    const key = ({ headers }: Request) => headers.get('x-client') ?? undefined
    const { ask } = notes([rateLimit({ limit: 1, windowSeconds: 60, key })], { now: () => QUARTER })
    const long = 'x'.repeat(5000)
    const statuses = []
    for (const client of ['a', 'b', 'a', long, `${long}y`, long]) {
      statuses.push((await ask('GET', '/notes', { headers: { 'X-Client': client } })).status)
    }
    expect(statuses).toEqual([200, 200, 429, 200, 200, 429])
    const free = await ask('GET', '/notes')
    expect([free.status, free.headers.get('ratelimit')]).toEqual([200, null])
  })

  it('counts everybody together if the runtime tells no address, and warns once', async () => {
    const { ask, messages } = notes([rateLimit({ limit: 2, windowSeconds: 60 })], {
      now: () => QUARTER,
    })
    const statuses = []
    for (let at = 0; at < 3; at += 1) statuses.push((await ask('GET', '/notes')).status)
    expect(statuses).toEqual([200, 200, 429])
    expect(messages.filter((message) => message.startsWith('rateLimit:'))).toHaveLength(1)
  })

  it('several limits send several fields', async () => {
    const { ask } = notes(
      [
        rateLimit({ limit: 10, windowSeconds: 60, name: 'minute' }),
        rateLimit({ limit: 100, windowSeconds: 3600, name: 'hour' }),
      ],
      { now: () => QUARTER },
    )
    const response = await ask('GET', '/notes', by('192.0.2.1'))
    expect(fieldsOf(response)).toEqual([
      '"minute";q=10;w=60, "hour";q=100;w=3600',
      '"minute";r=9;t=45, "hour";r=99;t=3585',
      null,
    ])
  })

  it('counts in a cache in memory, and in this process while the cache fails', async () => {
    const cache = memoryCache()
    let isOut = false
    const faulty: CacheStore = {
      ...cache,
      async increment(key, ttlSeconds) {
        if (isOut) throw new Error('ECONNREFUSED')
        return cache.increment?.(key, ttlSeconds) ?? 0
      },
    }
    const guard = rateLimit({ limit: 2, windowSeconds: 60, cache: faulty })
    const { ask, messages } = notes([guard], { now: () => QUARTER })
    const statuses = []
    for (const out of [false, false, false, true, true, true, false]) {
      isOut = out
      statuses.push((await ask('GET', '/notes', by('192.0.2.1'))).status)
    }
    expect(statuses).toEqual([200, 200, 429, 200, 200, 429, 429])
    const warning = 'rateLimit: the cache cannot be reached; each process counts for itself'
    expect(messages.filter((message) => message === warning)).toHaveLength(1)
  })

  it.each([0, Number.NaN])('counts in this process if the cache says %d', async (count) => {
    const cache: CacheStore = { ...memoryCache(), increment: async () => count }
    const guard = rateLimit({ limit: 1, windowSeconds: 60, cache })
    const { ask } = notes([guard], { now: () => QUARTER })
    const twice = [await ask('GET', '/notes'), await ask('GET', '/notes')]
    expect(twice.map(({ status }) => status)).toEqual([200, 429])
  })

  it('two apps with the same guard count apart', async () => {
    const guard = rateLimit({ limit: 1, windowSeconds: 60 })
    const apps = [notes([guard]), notes([guard])]
    for (const { ask } of apps) {
      expect((await ask('GET', '/notes', by('192.0.2.1'))).status).toBe(200)
    }
  })
})

it('processes that count together look at all clients for those that are over once a second, in a flood too', async () => {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now() - 7_200_000)
  const counted = (from: number, to: number) =>
    new Promise<void>((resolve) => {
      const asks = Array.from({ length: to - from }, (_, at) => {
        return [at, 'count', [`client ${from + at}`, 3600]] as const
      })
      answerAsks(asks, () => resolve())
    })
  await counted(0, 100_000)
  const iterated = vi.spyOn(Map.prototype, Symbol.iterator)
  await counted(100_000, 100_020)
  const sizes = iterated.mock.contexts.map((map) => (map as Map<string, unknown>).size)
  iterated.mockRestore()
  expect(sizes.filter((size) => size > 99_000).length).toBeLessThan(2)
  clock.mockReturnValue(performance.now() + 3_601_000)
  await counted(0, 1)
  clock.mockRestore()
})
