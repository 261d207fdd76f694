import { afterEach, expect, it, vi } from 'vitest'
import { afterResponse } from '../../src/auth/instance/circuit-breaker.ts'

afterEach(() => vi.useRealTimers())

it('work that has ended silently takes no place from later work for long', () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  const after = afterResponse()
  const lost = () => new Promise<void>(() => {})
  for (let count = 0; count < 1000; count += 1) expect(after(lost)).toBeDefined()
  expect(after(lost)).toBeUndefined()
  vi.advanceTimersByTime(300_001)
  expect(after(lost)).toBeDefined()
})
