/**
 * Lockout: guesses at a password are counted before they are evaluated, so that parallel ones cannot outrun
 * the counter (spec 3.2).
 *
 * @module
 */

import { all, any, everything, type Filter, withId } from '../ports/filter.ts'
import type { Change, Fields } from '../ports/store.ts'
import { type Realm, userById } from './realm.ts'

/** A guess that may be evaluated: the user as he was counted, and the count with this guess. */
export interface Reservation {
  readonly user: Fields
  readonly count: number
}

/** The parts of the change that clears the lockout, where the model has one. */
export function cleared({ names, settings }: Realm): { set: Fields; unset: string[] } {
  const has = settings.model.shape.fields.has(names.lockedUntil)
  return has
    ? { set: { [names.failedLoginAttempts]: 0 }, unset: [names.lockedUntil] }
    : { set: {}, unset: [] }
}

/** Parallel guesses move an account from one case to the next at most this often. */
const MAX_CASES = 5

/**
 * Reserves a guess at the password of `user`, as he was read; undefined while the account is locked. One
 * conditional step counts the guess; the one that reaches the maximum locks the account at once, before it is
 * evaluated, and a right one clears it.
 */
export async function reserveGuess(realm: Realm, user: Fields): Promise<Reservation | undefined> {
  const { names, records, now } = realm
  const byId = withId(String(user._id))
  let read: Fields | undefined = user
  for (let tries = 0; read && tries < MAX_CASES; tries += 1) {
    const at = now()
    const until = read[names.lockedUntil]
    const locked = until instanceof Date ? until.getTime() : undefined
    if (locked !== undefined && locked > at) return undefined
    const step = stepFor(realm, Number(read[names.failedLoginAttempts] ?? 0), locked, at)
    const counted = await records.stored.update(all([byId, step.filter]), step.change)
    if (counted) return { user: counted, count: Number(counted[names.failedLoginAttempts]) }
    read = await userById(realm, String(user._id))
  }
  return undefined
}

/**
 * Writes as `reserveGuess` does, and changes nothing. Same time for unknown and for locked accounts: without
 * it their answers would come sooner by a write.
 */
export async function reserveNothing({ records, names }: Realm, id?: string): Promise<void> {
  const filter = id === undefined ? everything : withId(id)
  await records.stored.update(filter, { increment: { [names.failedLoginAttempts]: 0 } })
}

/** When the lock ends, in seconds from now, for `lockout.reveal`. */
export function lockLeft({ names, now }: Realm, user: Fields): number {
  const until = user[names.lockedUntil]
  return until instanceof Date ? Math.max(1, Math.ceil((until.getTime() - now()) / 1000)) : 1
}

/** What counts a guess: after a lock that has ended, as the last guess before a lock, or as one before that. */
function stepFor(
  { names, settings }: Realm,
  guesses: number,
  locked: number | undefined,
  at: number,
): { filter: Filter; change: Change } {
  const { failedLoginAttempts: count, lockedUntil } = names
  const { maxAttempts, lockSeconds } = settings.lockout
  const lock = { [lockedUntil]: new Date(at + lockSeconds * 1000) }
  if (locked !== undefined) {
    const ended: Filter = { op: 'lte', field: lockedUntil, value: new Date(at) }
    return maxAttempts === 1
      ? { filter: ended, change: { set: { [count]: 1, ...lock } } }
      : { filter: ended, change: { set: { [count]: 1 }, unset: [lockedUntil] } }
  }
  const open: Filter = { op: 'eq', field: lockedUntil, value: null }
  const none: Filter = { op: 'eq', field: count, value: null }
  const fewer: Filter = { op: 'lt', field: count, value: maxAttempts - 1 }
  const last: Filter = { op: 'gte', field: count, value: maxAttempts - 1 }
  const increment = { [count]: 1 }
  if (guesses < maxAttempts - 1)
    return { filter: all([open, any([none, fewer])]), change: { increment } }
  const reached = maxAttempts === 1 ? any([none, last]) : last
  return { filter: all([open, reached]), change: { increment, set: lock } }
}
