/**
 * How far the search for a quality goes, and how long images wait for each other.
 */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { bisectQuality, sizeTarget } from '../../../adapters/images/quality.ts'
import { oneAtATime } from '../../../adapters/images/queue.ts'

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

  it('I10 ends after twenty seconds with what it has found', async () => {
    const slow = encoder((quality) => 1000 + quality, 12_000)
    expect(await bisectQuality(slow.encode, { least: 1, most: 500 })).toHaveLength(1042)
    expect(slow.asked).toEqual([60, 42])
    const slower = encoder((quality) => quality, 60_000)
    expect(await bisectQuality(slower.encode, { least: 1, most: 500 })).toHaveLength(60)
  })
})

describe('images that wait for each other', () => {
  it('are made smaller one after the other, also after one that fails', async () => {
    const queued = oneAtATime()
    const steps: string[] = []
    const task = (name: string) => async () => {
      steps.push(`${name} begins`)
      await new Promise((resolve) => setImmediate(resolve))
      steps.push(`${name} ends`)
      if (name === 'b') throw new Error('broken')
      return name
    }
    const results = await Promise.allSettled(['a', 'b', 'c'].map((name) => queued(task(name))))
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(steps).toEqual(['a', 'b', 'c'].flatMap((name) => [`${name} begins`, `${name} ends`]))
  })

  it('I10 are given up after twenty seconds, and those that come later are not', async () => {
    const queued = oneAtATime()
    const first = queued(async () => void vi.advanceTimersByTime(20_001))
    const waiting = queued(async () => 'never')
    await first
    await expect(waiting).rejects.toThrow('too many images are waiting')
    expect(await queued(async () => 'done')).toBe('done')
  })
})
