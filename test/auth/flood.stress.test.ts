import { expect, it } from 'vitest'
import { flood } from './flood.ts'

it('under a flood of sign-ins memory is bounded, others are answered, and the surplus gets a 503', async () => {
  const { flooded, grown, hashes, statuses, retryAfter } = await flood(2)
  // Beside the hashes there are 800 connections; unbounded, the hashes alone would take 12,800 MiB.
  expect(grown).toBeLessThan(hashes + 240)
  // The hashes that wait take half a minute; nobody else stands in their queue. The program has the honest figure.
  expect(flooded).toBeLessThan(10_000)
  const { 503: refused = 0, 401: wrong = 0, ...others } = statuses
  expect(others).toEqual({})
  expect(wrong).toBeGreaterThan(0)
  expect(refused).toBeGreaterThanOrEqual(200)
  expect(retryAfter).toBe(true)
}, 300_000)
