/**
 * How far the search for a quality goes.
 */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { bisectQuality, sampledQuality, sizeTarget } from '../../../adapters/images/quality.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

/** An encoder whose images weigh `weigh(quality)` bytes and take `ms` each; notes the qualities asked of it. */
function encoder(weigh: (quality: number) => number, ms = 0) {
  const asked: number[] = []
  const encode = async (quality: number) => {
    asked.push(quality)
    vi.advanceTimersByTime(ms)
    return new Uint8Array(weigh(quality))
  }
  return { asked, encode }
}

describe('the search for a quality', () => {
  it('ends with the first encoding that meets its target, after seven at most', async () => {
    for (const weight of [20, 50, 100, 200]) {
      const { asked, encode } = encoder((quality) => quality * weight)
      const target = sizeTarget(10_000, 'medium')
      const { length } = await bisectQuality(encode, target)
      expect(length).toBeLessThanOrEqual(target.most)
      // Even the best quality is smaller where it weighs so little.
      if (95 * weight >= target.least) expect(length).toBeGreaterThanOrEqual(target.least)
      expect(asked.length).toBeLessThanOrEqual(7)
    }
  })

  it('takes the smallest where all are too large, and the best where all are small enough', async () => {
    const large = encoder((quality) => 1000 + quality)
    expect(await bisectQuality(large.encode, { least: 1, most: 500 })).toHaveLength(1025)
    const small = encoder((quality) => quality)
    expect(await bisectQuality(small.encode, { least: 400, most: 500 })).toHaveLength(95)
  })

  it('ends in time with what it has found, and begins nothing that would not', async () => {
    const slow = encoder((quality) => 1000 + quality, 2000)
    expect(await bisectQuality(slow.encode, { least: 1, most: 500 })).toHaveLength(1042)
    expect(slow.asked).toEqual([60, 42])
    const slower = encoder((quality) => quality, 60_000)
    expect(await bisectQuality(slower.encode, { least: 1, most: 500 })).toHaveLength(60)
  })

  it('is made on a small copy of a large image, which is encoded twice', async () => {
    const large = encoder((quality) => 10_000 + quality * 100)
    const small = encoder((quality) => 1000 + quality * 10)
    const target = { least: 12_400, most: 12_900 }
    const until = performance.now() + 5000
    const found = await sampledQuality(large.encode, small.encode, target, until)
    expect(found.length).toBeGreaterThanOrEqual(12_400)
    expect(found.length).toBeLessThanOrEqual(12_900)
    expect(large.asked).toHaveLength(2)
  })
})
