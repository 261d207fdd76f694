/** The count of guesses by strangers, and the step that counts one. */

import { all, any, type Filter } from '../../ports/filter.ts'
import type { Fields } from '../../ports/store.ts'
import type { Step } from '../users/dummy-writes.ts'

/**
 * So many wrong passwords in a row, over any time, end password sign-in until the password is reset (NIST SP 800-63B-4,
 * 3.2.2).
 */
export const MAX_IN_A_ROW = 100

/** Where a count and its lock are stored. */
export interface Count {
  readonly guesses: string
  readonly lockedUntil: string
  /** The count in a row, which no time ends; undefined if the model has none. */
  readonly row: string | undefined
}

/** How many guesses lock an account, and for how long. */
export interface Limits {
  readonly max: number
  readonly lockMs: number
}

/**
 * The step that counts a guess: after a lock that has ended, as the last guess before a lock, or as an earlier one. The
 * record as it was read only decides which of them it is.
 */
export function countingStep(
  { guesses: field, lockedUntil, row }: Count,
  { max, lockMs }: Limits,
  user: Fields,
  at: number,
): Step {
  const lock = { [lockedUntil]: new Date(at + lockMs) }
  const rows = row === undefined ? [] : [below(row, MAX_IN_A_ROW)]
  const inRow = row && { [row]: 1 }
  if (user[lockedUntil] instanceof Date) {
    const ended: Filter = { op: 'lte', field: lockedUntil, value: new Date(at) }
    const set = { [field]: 1 }
    const change = max === 1 ? { set: { ...set, ...lock } } : { set, unset: [lockedUntil] }
    return {
      filter: all([ended, ...rows]),
      change: { ...change, ...(inRow && { increment: inRow }) },
    }
  }
  const isLast = Number(user[field] ?? 0) >= max - 1
  const last: Filter = { op: 'gte', field, value: max - 1 }
  const reached = max === 1 ? any([none(field), last]) : last
  return {
    filter: all([none(lockedUntil), isLast ? reached : below(field, max - 1), ...rows]),
    change: { increment: { [field]: 1, ...inRow }, ...(isLast && { set: lock }) },
  }
}

function none(field: string): Filter {
  return { op: 'eq', field, value: null }
}

function below(field: string, value: number): Filter {
  return any([none(field), { op: 'lt', field, value }])
}
