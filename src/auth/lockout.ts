/**
 * Lockout: guesses at a password are counted before they are evaluated, so that parallel ones cannot outrun
 * the counter (spec 3.2). Clients that the account knows have a count of their own, see known-clients.ts.
 *
 * @module
 */

import { all, any, type Filter, withId } from '../ports/filter.ts'
import type { Change, Fields } from '../ports/store.ts'
import { type KnownClient, knownClient, replaced } from './known-clients.ts'
import { type Realm, userById } from './realm.ts'

/** A change, and what it expects. */
export interface Step {
  readonly change: Change
  readonly expect: Fields
}

/** A guess that may be evaluated. */
export interface Reservation {
  /** The user as he was counted. */
  readonly user: Fields
  /** Whether this guess is the last one, which has locked the account. */
  readonly locks: boolean
  /** Takes this guess back, unless others were counted meanwhile. */
  readonly forgive: Step
  /** Takes back all that were counted with it, unless others were counted meanwhile. */
  readonly clear: Step
}

/** The parts of the change that clears the account's own lockout, where the model has one. */
export function cleared({ names, settings }: Realm): { set: Fields; unset: string[] } {
  const has = settings.model.shape.fields.has(names.lockedUntil)
  return has
    ? { set: { [names.failedLoginAttempts]: 0 }, unset: [names.lockedUntil] }
    : { set: {}, unset: [] }
}

/** What a guess writes where there is no account, or it may make none: as much as one that is counted. */
export async function reserveNothing(realm: Realm, client: string | undefined): Promise<void> {
  const nobody = { _id: '' }
  const known = knownClient(realm, nobody, client)
  const step = known ? undefined : sharedBudget(realm, nobody, realm.now())
  await realm.decoys.write(step)
}

/** Parallel guesses move an account from one case to the next, and outrun each other. */
const MAX_CASES = 20

/**
 * Reserves a guess of `client` at the password of `user`, as he was read; undefined while it may make none. One
 * conditional step counts the guess; the one that reaches the maximum locks the account for that client, or for all that
 * it does not know, before it is evaluated. A right one clears the count.
 */
export async function reserveGuess(
  realm: Realm,
  user: Fields,
  client: string | undefined,
): Promise<Reservation | undefined> {
  let read: Fields | undefined = user
  for (let tries = 0; read && tries < MAX_CASES; tries += 1) {
    const at = realm.now()
    const known = knownClient(realm, read, client)
    const budget = known ? ownBudget(realm, read, known, at) : sharedBudget(realm, read, at)
    if (!budget) return undefined
    const { filter, change, expect } = budget
    const byId = withId(String(read._id))
    const counted = await realm.records.stored.update(all([byId, filter]), change, { expect })
    if (counted) return budget.reserved(counted)
    read = await userById(realm, String(user._id))
  }
  return undefined
}

/** When the lock ends for `client`, in seconds from now, for `lockout.reveal`. */
export function lockLeft(realm: Realm, user: Fields, client: string | undefined): number {
  const own = knownClient(realm, user, client)?.lockedUntil
  const until = own ?? user[realm.names.lockedUntil]
  return until instanceof Date ? Math.max(1, Math.ceil((until.getTime() - realm.now()) / 1000)) : 1
}

/** What counts a guess, and what it gives. */
interface Budget {
  readonly filter: Filter
  readonly change: Change
  readonly expect: Fields
  reserved(user: Fields): Reservation
}

/** Undefined while the client is locked out, or a deployer has locked the account for everybody. */
function ownBudget(realm: Realm, user: Fields, known: KnownClient, at: number): Budget | undefined {
  const { names, settings } = realm
  const { maxAttempts, lockSeconds } = settings.lockout
  const { lockedUntil, ...rest } = known
  if (isAfter(lockedUntil, at) || isLockedByHand(realm, user, at)) return undefined
  const guesses = lockedUntil ? 1 : known.guesses + 1
  const locks = guesses >= maxAttempts
  const lock = locks && { lockedUntil: new Date(at + lockSeconds * 1000) }
  const counted = { ...rest, guesses, ...lock }
  return {
    ...replaced(realm, user, known, counted),
    filter: any([
      { op: 'eq', field: names.lockedUntil, value: null },
      { op: 'lte', field: names.lockedUntil, value: new Date(at) },
      { op: 'gte', field: names.failedLoginAttempts, value: maxAttempts },
    ]),
    reserved: (now) => ({
      user: now,
      locks,
      forgive: replaced(realm, now, counted, { ...rest, guesses: guesses - 1 }),
      clear: replaced(realm, now, counted, { ...rest, guesses: 0 }),
    }),
  }
}

/** A lock that guesses have not made. */
function isLockedByHand({ names, settings }: Realm, user: Fields, at: number): boolean {
  const guesses = Number(user[names.failedLoginAttempts] ?? 0)
  return isAfter(user[names.lockedUntil], at) && guesses < settings.lockout.maxAttempts
}

/** Undefined while the account is locked. */
function sharedBudget(realm: Realm, user: Fields, at: number): Budget | undefined {
  const { names, settings } = realm
  const { failedLoginAttempts: field, lockedUntil } = names
  const until = user[lockedUntil]
  if (isAfter(until, at)) return undefined
  const step = stepFor(realm, Number(user[field] ?? 0), until instanceof Date, at)
  return {
    ...step,
    expect: {},
    reserved(now) {
      const count = Number(now[field])
      const expect = { [field]: count }
      const forgive = { set: { [field]: count - 1 }, unset: [lockedUntil] }
      return {
        user: now,
        locks: count >= settings.lockout.maxAttempts,
        forgive: { change: forgive, expect },
        clear: { change: cleared(realm), expect },
      }
    },
  }
}

/** What counts a guess: after a lock that has ended, as the last guess before a lock, or as one before that. */
function stepFor(
  { names, settings }: Realm,
  guesses: number,
  wasLocked: boolean,
  at: number,
): { filter: Filter; change: Change } {
  const { failedLoginAttempts: count, lockedUntil } = names
  const { maxAttempts, lockSeconds } = settings.lockout
  const lock = { [lockedUntil]: new Date(at + lockSeconds * 1000) }
  if (wasLocked) {
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

function isAfter(date: unknown, at: number): boolean {
  return date instanceof Date && date.getTime() > at
}
