/** Jobs: when each is due, who runs it, and what is kept of it. */

import { Cron } from 'croner'
import type { App } from '../../app/app.ts'
import * as rule from '../../model/option-rules.ts'
import { checkOptions, type Fail, failAs, type Rule } from '../../model/option-rules.ts'
import { withId } from '../../ports/store/filter.ts'
import type { Fields } from '../../ports/store/records.ts'
import { keptText, stackText } from '../../ports/values/causes.ts'
import type { JobStatus } from '../../records/engine/background-work.ts'
import { type Host, hostOf } from '../../records/engine/host.ts'
import type { RecordStore } from '../../records/engine/record-store.ts'
import { LEASE_MS, type Lease, pauseAfter, takeLease } from '../lease.ts'
import { type Pace, POLL_MS, watched } from '../loop.ts'
import { addWork, type Kept, LeasedWork } from '../work.ts'

/** What a job gets each time that it runs. */
export interface JobRun {
  /** The time that the schedule names, of which this is the run: with a job that was late, some time ago. */
  readonly at: Date
  /** 1, or more if earlier starts for this time failed, or ended with their process. */
  readonly attempt: number
  /** Aborts when the app closes and has waited for some time, or if another process has taken over. */
  readonly signal: AbortSignal
  /** The app's records, as `app.store`. */
  readonly store: RecordStore
}

/** A job. */
export interface JobOptions {
  /**
   * When it runs, as cron text of five fields: minute, hour, day of the month, month, day of the week. A sixth in front
   * is for seconds. Also `@hourly`, `@daily`, `@weekly`, `@monthly` and `@yearly`.
   */
  readonly schedule: string
  /** The time zone of `schedule`, such as `Europe/Zurich`. Default `UTC`. */
  readonly timeZone?: string
  /** What to do. Its result is ignored. */
  readonly run: (run: JobRun) => unknown
  /**
   * How often it is started for one time if it throws: the next time after 1 s, then after longer and longer pauses.
   * Default 1: what has failed waits for the next time of the schedule.
   */
  readonly maxAttempts?: number
}

interface Settings extends Required<JobOptions> {
  readonly times: Cron
}

const RULES: Readonly<Record<keyof JobOptions, Rule>> = {
  schedule: rule.text,
  timeZone: rule.text,
  run: rule.callable,
  maxAttempts: rule.natural,
}

/**
 * Adds jobs to `app`, by their names. Each time that a schedule names, its job runs once, whichever process does it: `serve`
 * runs them, and on Workers the `scheduled` of `worker`. If times were missed because no process ran, the job runs once at
 * the start, for the last of them. If the process of a run dies, another one runs it again within half a minute. A job
 * never runs twice at the same time, as long as its process is alive and reaches the store. Throws a `TypeError` if an
 * option makes no sense.
 *
 * ```ts
 * import { jobs } from 'fieldgate/jobs'
 * jobs(app, {
 *   overdue: {
 *     schedule: '0 3 * * *',
 *     timeZone: 'Europe/Zurich',
 *     run: async ({ store, at }) => {
 *       console.log(at, await store.collection(City).count())
 *     },
 *   },
 * })
 * ```
 */
export function jobs(app: App, byName: Readonly<Record<string, JobOptions>>): void {
  const host = hostOf(app?.store, 'jobs(app, …)')
  for (const [name, options] of Object.entries(byName)) {
    const fail: Fail = failAs(`job '${name}'`)
    checkOptions(options, RULES, fail)
    const { schedule, timeZone = 'UTC', run, maxAttempts = 1 } = options
    if (schedule === undefined || !run) fail(`'schedule' and 'run' are missing`)
    const times = scheduleOf(schedule, timeZone, fail)
    const job = new Job(host, name, { schedule, timeZone, run, maxAttempts, times })
    addWork(host, job, 'job', fail)
  }
}

/** A job that ends its process each time would otherwise do so for ever. */
const MOST_STARTS = 10

interface KeptJob extends Kept {
  readonly done: Date
  readonly tick?: Date
  readonly attempt: number
  readonly error: string
}

class Job extends LeasedWork<KeptJob> {
  readonly #settings: Settings
  /** Since when this process knows that the last tick is still to come. */
  #since: number | undefined

  constructor(host: Host, name: string, settings: Settings) {
    super(host, 'job', name)
    this.#settings = settings
  }

  /** Notes the job, or that it has another schedule now: what that would have missed does not count. */
  protected override async begin(now: Date): Promise<void> {
    const { schedule, timeZone } = this.#settings
    const set = { schedule: `${schedule} ${timeZone}`, done: now }
    await this.note({ attempt: 0, error: '', ...set }, now)
    const { schedule: known } = await this.kept()
    if (known === set.schedule) return
    await this.records.update(withId(this.id), { set }, { expect: { schedule: known } })
  }

  async status(): Promise<JobStatus> {
    const kept = await this.kept()
    const { done, error, tick } = kept
    const { schedule, timeZone, times } = this.#settings
    return {
      ...{ kind: 'job', name: this.name, schedule, timeZone, error },
      isRunning: this.isRunning(kept),
      last: tick && tick <= done ? tick : undefined,
      next: times.nextRun(done) ?? undefined,
    }
  }

  /** Runs the job if it is due and no other process does; resolves to when to look again. */
  protected override async step(pace: Pace): Promise<number> {
    const { now } = this.host
    const found = await this.kept()
    const { times } = this.#settings
    const next = times.nextRun(this.#doneAsOf(found))
    if (!next) return Number.POSITIVE_INFINITY
    if (next.getTime() > now()) return next.getTime()
    const [tick = next] = times.previousRuns(1, new Date(now() + 1))
    const isAgain = found.tick?.getTime() === tick.getTime()
    const until = found.until.getTime()
    // It has failed and waits.
    if (found.owner === '' && isAgain && until > now()) return Math.min(until, now() + POLL_MS)
    if (this.isRunning(found)) return now() + POLL_MS
    const attempt = isAgain ? found.attempt + 1 : 1
    const set = { tick, attempt }
    const lease = await takeLease(this.host, this.records, found, set, pace)
    if (!lease) return now() + POLL_MS
    await lease.end(await this.#run(tick, attempt, lease, pace))
    return now()
  }

  /** The last tick that is done. One that is still to come was run by a clock that was ahead: it leaves none out. */
  #doneAsOf({ done }: KeptJob): Date {
    const now = this.host.now()
    if (done.getTime() <= now + LEASE_MS) {
      this.#since = undefined
      return done
    }
    this.#since = Math.min(this.#since ?? now, now)
    return new Date(this.#since)
  }

  /** Runs the job for the tick `done`; resolves to what is kept of it. */
  async #run(done: Date, attempt: number, lease: Lease, pace: Pace): Promise<Fields> {
    const { store, logger, now } = this.host
    const { run, maxAttempts } = this.#settings
    const about = { at: done.toISOString(), attempt }
    const failed = (error: unknown) =>
      logger.error(`Job '${this.name}' failed`, { ...about, error: stackText(error) })
    if (attempt > MOST_STARTS + maxAttempts) {
      const error = `its process ended ${attempt - 1} times, so it is left until its next time`
      failed(error)
      return { done, error }
    }
    const given: JobRun = { at: done, attempt, signal: lease.signal, store }
    try {
      await watched(this.host, pace, `Job '${this.name}'`, about, LONG_MS, async () => run(given))
      return { done, error: '' }
    } catch (error) {
      // Whoever has it now runs it again, and so does the next start.
      if (lease.isLost || pace.signal.aborted) {
        logger.warn(`Job '${this.name}' was interrupted`, about)
        return { attempt: attempt - 1 }
      }
      failed(error)
      const kept = { error: keptText(error) }
      if (attempt >= maxAttempts) return { ...kept, done }
      return { ...kept, until: new Date(now() + pauseAfter(attempt)) }
    }
  }
}

/** How often a run is warned of that does not end, in milliseconds. */
const LONG_MS = 3_600_000

function scheduleOf(text: string, timeZone: string, fail: Fail): Cron {
  if (!isZone(timeZone)) {
    fail(`'timeZone' is '${timeZone}', but must be a name such as 'Europe/Zurich' or 'UTC'`)
  }
  const wrong = `'schedule' is '${text}', but must be cron text, such as '0 3 * * *' for 3:00 each day`
  // Croner takes a date too, which occurs once.
  if (!/^@|\s/.test(text.trim())) fail(wrong)
  let cron: Cron
  try {
    cron = new Cron(text.trim(), { timezone: timeZone, paused: true })
  } catch (error) {
    return fail(`${wrong}: ${(error as Error).message.replace(/^CronPattern: /, '')}`)
  }
  if (!cron.nextRun(new Date(0))) fail(`'schedule' is '${text}', which no date matches`)
  return cron
}

function isZone(timeZone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }) !== undefined
  } catch {
    return false
  }
}
