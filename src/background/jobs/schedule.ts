/**
 * When a job runs: cron text, read by croner.
 *
 * @module
 */

import { Cron } from 'croner'
import type { Fail } from '../../model/option-rules.ts'

/** The times of a schedule, in epoch milliseconds. */
export interface Schedule {
  /** The first time after `time`; undefined if there is none. */
  after(time: number): number | undefined
  /** The last time up to `time`; undefined if there is none. */
  upTo(time: number): number | undefined
}

/** Reads a schedule, or says what is wrong with it. */
export function scheduleOf(text: string, timeZone: string, fail: Fail): Schedule {
  if (!isZone(timeZone)) {
    fail(`'timeZone' is '${timeZone}', but must be a name such as 'Europe/Zurich' or 'UTC'`)
  }
  const wrong = `'schedule' is '${text}', but must be cron text, such as '0 3 * * *' for 3:00 each day`
  // Croner takes a date too, which occurs once.
  if (!/^@|\s/.test(text.trim())) fail(wrong)
  const cron = parsed(text.trim(), timeZone, (reason) => fail(`${wrong}: ${reason}`))
  const schedule: Schedule = {
    after: (time) => cron.nextRun(new Date(time))?.getTime(),
    upTo: (time) => cron.previousRuns(1, new Date(time + 1))[0]?.getTime(),
  }
  if (schedule.after(0) === undefined) fail(`'schedule' is '${text}', which no date matches`)
  return schedule
}

function parsed(text: string, timezone: string, fail: Fail): Cron {
  try {
    return new Cron(text, { timezone, paused: true })
  } catch (error) {
    return fail((error as Error).message.replace(/^CronPattern: /, ''))
  }
}

function isZone(timeZone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }) !== undefined
  } catch {
    return false
  }
}
