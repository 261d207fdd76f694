import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Wakes } from '../../adapters/stores/changes/wakes.ts'

describe('who waits for changes', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('is woken by writes of other processes, until they no longer listen', async () => {
    let position = 'a'
    let looks = 0
    const wakes = new Wakes(async () => {
      looks += 1
      return position
    })
    let woken = 0
    const end = wakes.wake(() => {
      woken += 1
    })
    await vi.advanceTimersByTimeAsync(500)
    expect(woken).toBe(1)
    position = 'b'
    await vi.advanceTimersByTimeAsync(200)
    expect(woken).toBe(2)
    wakes.notify()
    expect(woken).toBe(3)
    end()
    const before = looks
    await vi.advanceTimersByTimeAsync(3000)
    expect(looks - before).toBeLessThan(2)
  })

  it('looks twice a second where nothing has come for a minute, and soon again once something has', async () => {
    let position = 'a'
    let looks = 0
    const wakes = new Wakes(async () => {
      looks += 1
      return position
    })
    const end = wakes.wake(() => {})
    const looksIn = async (ms: number) => {
      const before = looks
      await vi.advanceTimersByTimeAsync(ms)
      return looks - before
    }
    expect(await looksIn(59_000)).toBeGreaterThan(500)
    await looksIn(2000)
    expect(await looksIn(60_000)).toBeLessThan(130)
    position = 'b'
    await looksIn(500)
    expect(await looksIn(10_000)).toBeGreaterThan(90)
    end()
  })

  it('looks on where what looked has come to a halt, as it does on Workers with its request', async () => {
    let looks = 0
    const wakes = new Wakes(() => {
      looks += 1
      return looks === 1 ? new Promise(() => {}) : Promise.resolve(String(looks))
    })
    let woken = 0
    wakes.wake(() => {})
    const end = wakes.wake(() => {
      woken += 1
    })
    await vi.advanceTimersByTimeAsync(900)
    expect(woken).toBe(0)
    await vi.advanceTimersByTimeAsync(1500)
    expect(woken).toBeGreaterThan(5)
    end()
  })
})
