import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { refusesInSteps } from '../../src/auth/routes/even-time.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

/** When a handler that settles after `ms` has responded, in milliseconds. */
async function settledAfter(ms: number, settle: () => Response): Promise<number> {
  const began = Date.now()
  const handler = refusesInSteps(async () => {
    await new Promise((resolve) => setTimeout(resolve, ms))
    return settle()
  })
  const settled = Promise.resolve(handler({} as never, {} as never)).then(
    () => Date.now(),
    () => Date.now(),
  )
  await vi.advanceTimersByTimeAsync(ms + 100)
  return (await settled) - began
}

const refuse = (): never => {
  throw new Error('refused')
}

it.each([
  [1, 5],
  [4, 5],
  [7, 10],
  [133, 135],
])('a refusal after %i ms leaves after %i', async (ms, left) => {
  expect(await settledAfter(ms, refuse)).toBe(left)
})

it('anything else leaves at once', async () => {
  expect(await settledAfter(1, () => new Response())).toBe(1)
})

it('work that hangs keeps no clock running, and its refusal waits for none', async () => {
  expect(await settledAfter(20_001, refuse)).toBe(20_001)
  const started = vi.spyOn(globalThis, 'setInterval')
  const ended = vi.spyOn(globalThis, 'clearInterval')
  void refusesInSteps(() => new Promise(() => {}))({} as never, {} as never)
  await vi.advanceTimersByTimeAsync(20_000)
  expect(ended).toHaveBeenCalledWith(started.mock.results[0]?.value)
})
