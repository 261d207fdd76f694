import { afterEach, describe, expect, it, vi } from 'vitest'
import { jobs, runBackground, runDue } from '../../src/background/jobs/index.ts'
import { Loop } from '../../src/background/loop.ts'
import type { App } from '../../src/index.ts'
import { apps } from './apps.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const YEAR = 365 * 24 * HOUR

afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

async function nightly(app: App, run: (at: string) => unknown): Promise<App> {
  jobs(app, { nightly: { schedule: '0 3 * * *', run: ({ at }) => run(at.toISOString()) } })
  await app.ready()
  return app
}

describe('a clock that was years ahead and is right again', () => {
  it('keeps no job from its next time', async () => {
    const it = apps('2026-11-26T12:00:00Z')
    const runs: string[] = []
    const app = await nightly(it.app(), (at) => runs.push(at))
    it.clock.at += 10 * YEAR
    await runDue(app)
    expect(runs).toEqual(['2036-11-23T03:00:00.000Z'])
    it.clock.at -= 10 * YEAR
    await runDue(app)
    expect(runs).toHaveLength(1)
    it.clock.at += 24 * HOUR
    await runDue(app)
    await runDue(app)
    expect(runs.slice(1)).toEqual(['2026-11-27T03:00:00.000Z'])
  })

  it('leaves no time to run twice where clocks differ by seconds', async () => {
    const it = apps('2026-11-26T12:00:00Z')
    const runs: string[] = []
    const ahead = await nightly(it.app({ now: () => it.clock.at + 5000 }), (at) => runs.push(at))
    const app = await nightly(it.app(), (at) => runs.push(at))
    it.clock.at = Date.parse('2026-11-27T02:59:58Z')
    for (let second = 0; second < 10; second += 1) {
      for (const one of [ahead, app]) await runDue(one)
      it.clock.at += 1000
    }
    expect(runs).toEqual(['2026-11-27T03:00:00.000Z'])
  })

  it('lets a process take over what another one had that has died meanwhile', async () => {
    const it = apps('2026-11-26T12:00:00Z')
    let elapsed = performance.now()
    vi.spyOn(performance, 'now').mockImplementation(() => elapsed)
    const dead = vi.fn(() => new Promise(() => {}))
    const first = await nightly(it.app(), dead)
    const runs: string[] = []
    const second = await nightly(it.app(), (at) => runs.push(at))
    it.clock.at += 10 * YEAR
    void runDue(first)
    await expect.poll(() => dead.mock.calls.length).toBe(1)
    it.clock.at -= 10 * YEAR - 24 * HOUR
    await runDue(second)
    elapsed += 19_000
    await runDue(second)
    expect(runs).toEqual([])
    elapsed += 2000
    await runDue(second)
    expect(runs).toEqual(['2026-11-27T03:00:00.000Z'])
  })

  it('wakes a loop that would sleep until the time of then', async () => {
    vi.useFakeTimers()
    let at = Date.parse('2036-11-26T12:00:00Z')
    const step = vi.fn(async () => at + 5000)
    const loop = new Loop({ logger: console, now: () => at }, 'job report', step)
    loop.start()
    await vi.advanceTimersByTimeAsync(1)
    expect(step).toHaveBeenCalledOnce()
    at -= 10 * YEAR
    await vi.advanceTimersByTimeAsync(5000)
    expect(step).toHaveBeenCalledTimes(2)
    const closing = loop.close()
    await vi.advanceTimersByTimeAsync(100)
    await closing
  })
})

it('a process whose clock is minutes ahead takes nothing from one that lives', async () => {
  const it = apps('2026-11-26T12:00:00Z')
  const held = vi.fn(() => new Promise(() => {}))
  const first = await nightly(it.app(), held)
  const taken: string[] = []
  const ahead = await nightly(it.app({ now: () => it.clock.at + 7 * MINUTE }), (at) =>
    taken.push(at),
  )
  const other = vi.fn()
  jobs(ahead, { other: { schedule: '0 3 * * *', run: other } })
  await ahead.ready()
  it.clock.at = Date.parse('2026-11-27T03:00:00Z')
  void runDue(first)
  await expect.poll(() => held.mock.calls.length).toBe(1)
  const running = await runBackground(ahead)
  await expect.poll(() => other.mock.calls.length).toBe(1)
  await running.close()
  expect(taken).toEqual([])
})
