import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { jobs, runBackground } from '../../src/background/jobs/index.ts'
import { Loop } from '../../src/background/loop.ts'
import { hostOf } from '../../src/records/engine/host.ts'
import { apps } from './apps.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

/** Work that neither ends nor listens to its signal. */
function hanging(name: string, warnings: string[]): Loop {
  const logger = { ...console, warn: (text: string) => void warnings.push(text) }
  const loop = new Loop({ logger, now: Date.now }, name, () => new Promise<number>(() => {}))
  loop.start()
  return loop
}

it('what ignores its signal is left behind, and told of', async () => {
  const warnings: string[] = []
  const loop = hanging('job report', warnings)
  let isClosed = false
  const closing = loop.close(1000).then(() => {
    isClosed = true
  })
  await vi.advanceTimersByTimeAsync(15_999)
  expect([loop.signal.aborted, isClosed, warnings]).toEqual([true, false, []])
  await vi.advanceTimersByTimeAsync(1)
  await closing
  expect(warnings).toEqual(['job report ignores its signal, and is left behind'])
  await loop.close()
})

it('an app that closes waits for all of them at once', async () => {
  const warnings: string[] = []
  const app = apps('2026-11-26T12:00:00Z').app()
  const { background } = hostOf(app.store, 'app')
  for (const name of ['job a', 'job b']) background.push(hanging(name, warnings) as never)
  const closing = app.close()
  await vi.advanceTimersByTimeAsync(40_000)
  expect(warnings).toHaveLength(2)
  await closing
})

it('a run that is left behind keeps no timer, so that its process can end', async () => {
  vi.useRealTimers()
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'],
  })
  const app = apps('2026-11-26T02:59:59Z').app({ now: Date.now })
  const run = vi.fn(() => new Promise(() => {}))
  jobs(app, { hanging: { schedule: '* * * * * *', run } })
  await app.ready()
  const made = vi.spyOn(globalThis, 'setInterval')
  const ended = vi.spyOn(globalThis, 'clearInterval')
  const running = await runBackground(app)
  // It is due within a second of the clock, which goes on while this waits.
  await vi.waitFor(() => expect(run).toHaveBeenCalledOnce(), { timeout: 10_000 })
  const closing = running.close(1000)
  await vi.advanceTimersByTimeAsync(16_000)
  await closing
  const timers = made.mock.results.map(({ value }) => value)
  // The sign of life of its lease, and the warning that it has not ended.
  expect(timers.length).toBeGreaterThanOrEqual(2)
  expect(ended.mock.calls.map(([timer]) => timer)).toEqual(expect.arrayContaining(timers))
})
