import { expect, it } from 'vitest'
import { randomRules } from './random-rules.ts'

it.each([1, 2, 3])(
  'streams tell of each write what their rules say, with seed %i',
  async (seed) => {
    const { events, told, faults } = await randomRules(seed, 150)
    expect(faults).toEqual([])
    expect(events).toBeGreaterThan(1000)
    expect(told).toBeGreaterThan(100)
  },
)
