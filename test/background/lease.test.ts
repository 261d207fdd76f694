import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { takeLease } from '../../src/background/lease.ts'
import { once } from '../../src/background/loop.ts'
import type { Collection, Store } from '../../src/ports/store/store.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('a lease that was taken slowly, and can be kept no more, is lost when others may take it', async () => {
  let isOut = false
  const update = async () => {
    if (isOut) throw new Error('the database is out of reach')
    await new Promise((resolve) => setTimeout(resolve, 8000))
    isOut = true
    return {}
  }
  const records = { update } as unknown as Collection
  const host = { database: {} as Store, now: Date.now }
  const taking = takeLease(host, records, { _id: 'a', owner: '', until: new Date() }, {}, once())
  await vi.advanceTimersByTimeAsync(8000)
  const lease = await taking
  await vi.advanceTimersByTimeAsync(11_000)
  expect(lease?.isLost).toBe(false)
  // 20 s after it was asked for, and a sign of life that fails.
  await vi.advanceTimersByTimeAsync(4500)
  expect(lease?.isLost).toBe(true)
})
