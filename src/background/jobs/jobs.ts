import type { App } from '../../app/app.ts'
import * as rule from '../../model/option-rules.ts'
import { checkOptions, type Fail, failAs, type Rule } from '../../model/option-rules.ts'
import { hostOf } from '../../records/engine/host.ts'
import { addWork } from '../work.ts'
import { Job, type JobOptions, scheduleOf } from './job.ts'

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
