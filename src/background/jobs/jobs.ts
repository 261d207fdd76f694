/** `jobs`: functions that run at certain times, each time in one process. */

import type { App } from '../../app/app.ts'
import {
  callable,
  checkOptions,
  type Fail,
  failAs,
  natural,
  type Rule,
} from '../../model/option-rules.ts'
import { hostOf } from '../../records/engine/host.ts'
import type { RecordStore } from '../../records/engine/record-store.ts'
import { addWork } from '../work.ts'
import { Job, scheduleOf } from './job.ts'

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

const text: Rule = { must: 'be a string', test: (value) => typeof value === 'string' }
const RULES: Readonly<Record<keyof JobOptions, Rule>> = {
  schedule: text,
  timeZone: text,
  run: callable,
  maxAttempts: natural,
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
