import { describe, expect, it } from 'vitest'
import { serve } from '../../adapters/runtimes/node.ts'
import { worker } from '../../adapters/runtimes/workers.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import {
  type JobOptions,
  type JobRun,
  jobs,
  runBackground,
  runDue,
} from '../../src/background/jobs/index.ts'
import { type App, createApp } from '../../src/index.ts'
import { apps } from './apps.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** A job, and the runs that it had. */
function noted(
  options: Partial<JobOptions> = {},
  work: (run: JobRun) => unknown = () => {},
): { readonly runs: JobRun[]; readonly options: JobOptions } {
  const runs: JobRun[] = []
  const run = (given: JobRun) => {
    runs.push(given)
    return work(given)
  }
  return { runs, options: { schedule: '0 3 * * *', run, ...options } }
}

const times = (runs: readonly JobRun[]) => runs.map(({ at }) => at.toISOString())

async function started(app: App, nightly: JobOptions): Promise<App> {
  jobs(app, { nightly })
  await app.ready()
  return app
}

describe('a job', () => {
  it('runs once at each time of its schedule, however many processes there are', async () => {
    const it = apps('2026-11-26T12:00:00Z')
    const { runs, options } = noted({}, () => new Promise((resolve) => setTimeout(resolve, 5)))
    const all = await Promise.all(Array.from({ length: 4 }, () => started(it.app(), options)))
    for (let hour = 0; hour < 48; hour += 6) {
      it.clock.at += 6 * HOUR
      await Promise.all(all.map((app) => runDue(app)))
    }
    expect(times(runs)).toEqual(['2026-11-27T03:00:00.000Z', '2026-11-28T03:00:00.000Z'])
    expect(runs.map(({ attempt }) => attempt)).toEqual([1, 1])
  })

  it('does not run for times before it was there', async () => {
    const it = apps('2026-11-26T03:00:00.001Z')
    const { runs, options } = noted()
    await runDue(await started(it.app(), options))
    expect(runs).toEqual([])
  })

  it('runs once for all times that were missed, at the next start', async () => {
    const it = apps('2026-11-26T12:00:00Z')
    await (await started(it.app(), noted().options)).close()
    it.clock.at += 4 * DAY
    const { runs, options } = noted()
    const app = await started(it.app(), options)
    await runDue(app)
    await runDue(app)
    expect(times(runs)).toEqual(['2026-11-30T03:00:00.000Z'])
  })

  it('runs again in another process when its own has died, but not before', async () => {
    const it = apps('2026-11-26T02:59:00Z')
    const dead = noted({}, () => new Promise(() => {}))
    const first = await started(it.app(), dead.options)
    const { runs, options } = noted()
    const second = await started(it.app(), options)
    it.clock.at += MINUTE
    void runDue(first)
    await expect.poll(() => dead.runs.length).toBe(1)
    it.clock.at += 19_000
    await runDue(second)
    expect(runs).toEqual([])
    it.clock.at += 2000
    await runDue(second)
    expect(runs.map(({ at, attempt }) => [at.toISOString(), attempt])).toEqual([
      ['2026-11-26T03:00:00.000Z', 2],
    ])
  })

  it('leaves a time alone whose runs end their process again and again', async () => {
    const it = apps('2026-11-26T02:59:00Z')
    const dead = noted({}, () => new Promise(() => {}))
    const app = await started(it.app(), dead.options)
    it.clock.at += MINUTE
    for (let start = 1; start <= 11; start += 1) {
      void runDue(app)
      await expect.poll(() => dead.runs.length).toBe(start)
      it.clock.at += 21_000
    }
    await runDue(app)
    await runDue(app)
    expect(dead.runs).toHaveLength(11)
    expect(it.log.text).toContain('its process ended 11 times, so it is left until its next time')
  })

  it('that throws is logged, and runs again at its next time', async () => {
    const it = apps('2026-11-26T02:59:00Z')
    const { runs, options } = noted({}, () => Promise.reject(new Error('no paper')))
    const app = await started(it.app(), options)
    it.clock.at += MINUTE
    await runDue(app)
    it.clock.at += HOUR
    await runDue(app)
    expect(runs).toHaveLength(1)
    const [line] = it.log.lines.filter(({ level }) => level === 'error')
    expect(line?.message).toBe("Job 'nightly' failed")
    expect(line?.details).toMatchObject({ at: '2026-11-26T03:00:00.000Z', attempt: 1 })
    expect(line?.details.error).toContain('Error: no paper')
    it.clock.at += DAY
    await runDue(app)
    expect(times(runs)).toEqual(['2026-11-26T03:00:00.000Z', '2026-11-27T03:00:00.000Z'])
  })

  it('with maxAttempts is started again after longer and longer pauses', async () => {
    const it = apps('2026-11-26T02:59:59Z')
    const { runs, options } = noted({ maxAttempts: 3 }, () => {
      throw new Error('no paper')
    })
    const app = await started(it.app(), options)
    const seconds: number[] = []
    for (let second = 0; second < 60; second += 1) {
      it.clock.at += 1000
      const before = runs.length
      await runDue(app)
      if (runs.length > before) seconds.push(second)
    }
    expect(seconds).toEqual([0, 1, 4])
    expect(runs.map(({ attempt }) => attempt)).toEqual([1, 2, 3])
  })

  it('counts from the new schedule when that changes', async () => {
    const it = apps('2026-11-26T12:00:00Z')
    await (await started(it.app(), noted().options)).close()
    it.clock.at += HOUR / 2
    const { runs, options } = noted({ schedule: '@hourly' })
    const app = await started(it.app(), options)
    await runDue(app)
    expect(runs).toEqual([])
    it.clock.at += HOUR
    await runDue(app)
    expect(times(runs)).toEqual(['2026-11-26T13:00:00.000Z'])
  })

  it('follows its time zone through the changes of the clocks', async () => {
    const it = apps('2026-03-28T00:00:00Z')
    const { runs, options } = noted({ schedule: '30 2 * * *', timeZone: 'Europe/Zurich' })
    const app = await started(it.app(), options)
    const during = async (from: string) => {
      it.clock.at = Date.parse(from)
      await runDue(app)
      runs.length = 0
      for (let hour = 0; hour < 72; hour += 1) {
        it.clock.at += HOUR
        await runDue(app)
      }
      return times(runs)
    }
    // 2:30 does not exist on the 29th: it runs at 3:00, which is the next moment.
    expect(await during('2026-03-28T00:00:00Z')).toEqual([
      '2026-03-28T01:30:00.000Z',
      '2026-03-29T01:00:00.000Z',
      '2026-03-30T00:30:00.000Z',
    ])
    // 2:30 comes twice on the 25th: it runs at the first.
    expect(await during('2026-10-24T00:00:00Z')).toEqual([
      '2026-10-24T00:30:00.000Z',
      '2026-10-25T00:30:00.000Z',
      '2026-10-26T01:30:00.000Z',
    ])
  })

  it('gets the records of the app, and its status is known', async () => {
    const it = apps('2026-11-26T02:59:00Z')
    const { runs, options } = noted()
    const app = await started(it.app(), options)
    it.clock.at += MINUTE
    await runDue(app)
    expect(runs[0]?.store).toBe(app.store)
    expect(await app.background[0]?.status()).toEqual({
      kind: 'job',
      name: 'nightly',
      schedule: '0 3 * * *',
      timeZone: 'UTC',
      isRunning: false,
      last: new Date('2026-11-26T03:00:00Z'),
      next: new Date('2026-11-27T03:00:00Z'),
      error: '',
    })
  })
})

describe('jobs of a server', () => {
  it('run while it serves, and end with it', async () => {
    const app = createApp({ store: sqliteStore(), logger: apps('2026-11-26T12:00:00Z').log })
    let signal: AbortSignal | undefined
    const { runs, options } = noted(
      { schedule: '* * * * * *' },
      (run) =>
        new Promise((_, reject) => {
          signal = run.signal
          run.signal.addEventListener('abort', () => reject(run.signal.reason))
        }),
    )
    jobs(app, { everySecond: options })
    const server = await serve(app, {
      port: 0,
      hostname: '127.0.0.1',
      signals: false,
      graceMs: 200,
    })
    await expect.poll(() => runs.length).toBe(1)
    expect(signal?.aborted).toBe(false)
    await server.close()
    expect(signal?.aborted).toBe(true)
    expect(runs).toHaveLength(1)
  })

  it('do not run where the server leaves them to another process', async () => {
    const it = apps('2026-11-26T02:59:00Z')
    const { runs, options } = noted()
    const app = await started(it.app(), options)
    const other = await started(it.app(), options)
    it.clock.at += MINUTE
    const quiet = { port: 0, hostname: '127.0.0.1', signals: false, background: false }
    const server = await serve(app, quiet)
    expect(runs).toHaveLength(0)
    const running = await runBackground(other)
    await expect.poll(() => runs.length).toBe(1)
    await running.close()
    await server.close()
    expect(runs).toHaveLength(1)
  })
})

describe('jobs()', () => {
  const run = () => {}
  it.each<[string, unknown, string]>([
    [
      'a text that is no cron text',
      { schedule: 'daily', run },
      "'schedule' is 'daily', but must be cron text, such as '0 3 * * *' for 3:00 each day",
    ],
    [
      'too few fields',
      { schedule: '* * * *', run },
      "'schedule' is '* * * *', but must be cron text, such as '0 3 * * *' for 3:00 each day: invalid configuration format",
    ],
    ['an hour that there is not', { schedule: '0 25 * * *', run }, 'Invalid value for hour: 25'],
    [
      'a day that never comes',
      { schedule: '0 0 30 2 *', run },
      "'schedule' is '0 0 30 2 *', which no date matches",
    ],
    ['a date', { schedule: '2026-11-27T00:00:00', run }, 'must be cron text'],
    [
      'a time zone that there is not',
      { schedule: '@daily', timeZone: 'Europe/Zurch', run },
      "'timeZone' is 'Europe/Zurch', but must be a name such as 'Europe/Zurich' or 'UTC'",
    ],
    ['no function', { schedule: '@daily' }, "'schedule' and 'run' are missing"],
    [
      'an unknown option',
      { schedule: '@daily', run, timezone: 'UTC' },
      "unknown option 'timezone'. Did you mean 'timeZone'?",
    ],
    [
      'no attempts',
      { schedule: '@daily', run, maxAttempts: 0 },
      "'maxAttempts' must be a whole number of at least 1",
    ],
  ])('refuses %s', (_, options, message) => {
    const app = apps('2026-11-26T12:00:00Z').app()
    const given = { nightly: options } as never
    expect(() => jobs(app, given)).toThrow(TypeError)
    expect(() => jobs(app, given)).toThrow(`job 'nightly': `)
    expect(() => jobs(app, given)).toThrow(message)
    expect(app.background).toEqual([])
  })

  it('refuses two jobs of one name, and what is no app', () => {
    const app = apps('2026-11-26T12:00:00Z').app()
    jobs(app, { nightly: { schedule: '@daily', run } })
    expect(() => jobs(app, { nightly: { schedule: '@hourly', run } })).toThrow(
      "job 'nightly': there is a job of this name already",
    )
    expect(() => jobs({} as never, {})).toThrow(
      'jobs(app, …) takes an app that createApp() returned',
    )
  })
})

describe('on Workers', () => {
  it('scheduled runs what is due', async () => {
    const it = apps('2026-11-26T02:59:00Z')
    const { runs, options } = noted()
    const handler = worker(() => {
      const app = it.app()
      jobs(app, { nightly: options })
      return app
    })
    const context = { waitUntil() {} }
    await handler.scheduled({}, {}, context)
    it.clock.at += MINUTE
    await handler.scheduled({}, {}, context)
    expect(times(runs)).toEqual(['2026-11-26T03:00:00.000Z'])
  })
})
