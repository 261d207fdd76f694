import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { memoryCache } from '../../../adapters/caches/memory.ts'
import { cacheContract, verify } from '../../../extras/contract/index.ts'

// Time passes as fast as it is waited for.
beforeAll(() => {
  vi.useFakeTimers().setTimerTickMode('nextTimerAsync')
  // The cache takes the moment 0 for none.
  vi.advanceTimersByTime(1)
})
afterAll(() => void vi.useRealTimers())

verify(
  'a cache in memory',
  cacheContract,
  {
    open: () => ({ cache: memoryCache() }),
    close: ({ cache }) => cache.close?.(),
    without: {
      'what one handle has set and was told so, every handle gets': 'a process has it for itself',
    },
  },
  { describe, it },
)

it('a cache in memory keeps no more entries than it is allowed, the latest used ones', async () => {
  const cache = memoryCache({ maxEntries: 3 })
  for (const key of ['a', 'b', 'c']) await cache.set(key, key, 60)
  await cache.get('a')
  await cache.set('d', 'd', 60)
  const kept = await Promise.all(['a', 'b', 'c', 'd'].map((key) => cache.get(key)))
  expect(kept).toEqual(['a', undefined, 'c', 'd'])
})

it('a cache in memory keeps no more bytes than it is allowed', async () => {
  const cache = memoryCache({ maxBytes: 100_000 })
  for (let at = 0; at < 100; at += 1) await cache.set(`key ${at}`, 'x'.repeat(5000), 60)
  const kept = await Promise.all(Array.from({ length: 100 }, (_, at) => cache.get(`key ${at}`)))
  const sizes = kept.flatMap((value) => (value ? [2 * value.length] : []))
  expect(sizes.length).toBeGreaterThan(5)
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(100_000)
  expect(kept[99]).toBeDefined()
})

it.each([
  [{ maxEntries: 0 }, 'maxEntries'],
  [{ maxBytes: 1.5 }, 'maxBytes'],
])('a cache in memory refuses %o at start-up', (options, name) => {
  expect(() => memoryCache(options)).toThrow(`memoryCache: '${name}' must be`)
})
