/**
 * Lockout: guesses at a password are counted before they are evaluated, so that parallel ones cannot bypass the counter
 * (spec 3.2). Clients that the account knows have a count of their own, see known-clients.ts.
 *
 * @module
 */

import { all, any, type Filter, withId } from '../../ports/filter.ts'
import type { Change, Fields } from '../../ports/store.ts'
import { type DecoyStep, NOBODY } from '../instance/decoys.ts'
import type { AuthInstance } from '../instance/instance.ts'
import { isAfter, userById } from '../instance/user.ts'
import { fresh, type KnownClient, knownClient, replaced } from '../visit/known-clients.ts'

/** A change, and what it expects. */
export interface Step {
  readonly change: Change
  readonly expect: Fields
}

/** A guess that may be evaluated. */
export interface Reservation {
  /** The user as read when the guess was counted. */
  readonly user: Fields
  /** Whether this guess is the last one, and has locked the account. */
  readonly locks: boolean
  /** Takes this guess back, for `user` as read again; undefined if others were counted meanwhile. */
  forgive(user?: Fields): Step | undefined
  /** Takes back all guesses counted together with it, in the same way. */
  clear(user?: Fields): Step | undefined
}

/** The parts of the change that clears the account's own lockout, if the model has one. */
export function cleared({ names, settings }: AuthInstance): { set: Fields; unset: string[] } {
  const { fields } = settings.model.shape
  return {
    set: fields.has(names.lockedUntil) ? { [names.failedLoginAttempts]: 0 } : {},
    unset: [names.lockedUntil, names.wrongPasswords].filter((field) => fields.has(field)),
  }
}

/**
 * So many wrong passwords in a row, over any time, end password sign-in until the password is reset (NIST SP 800-63B-4,
 * 3.2.2). Known clients have a count of their own here too.
 */
const MOST_IN_A_ROW = 100

/** Whether `client` can sign in to `user` by password only after a reset. */
export function isEnded(auth: AuthInstance, user: Fields, client: string | undefined): boolean {
  const own = knownClient(auth, user, client)
  const wrong = own ? own.wrong : user[auth.names.wrongPasswords]
  return Number(wrong ?? 0) >= MOST_IN_A_ROW
}

/** The stored count of strangers' wrong passwords in a row; undefined if the model has none. */
function rowField({ names, settings }: AuthInstance): string | undefined {
  return settings.model.shape.fields.has(names.wrongPasswords) ? names.wrongPasswords : undefined
}

/** The writes of a guess if there is no account, or it may make none: as much as for one that is counted. */
export async function reserveNothing(
  auth: AuthInstance,
  client: string | undefined,
): Promise<void> {
  // Looked up anyway: it takes time.
  knownClient(auth, NOBODY, client)
  await auth.decoys.write(sharedBudget(auth, NOBODY, auth.now()))
}

/**
 * Reserves a guess of `client` at the password of `user`, as read; undefined if it may make none. One conditional step
 * counts the guess before it is evaluated. The guess that reaches the maximum locks the account for that client, or for
 * all clients that it does not know. A right guess clears the count.
 */
export function reserveGuess(
  auth: AuthInstance,
  user: Fields,
  client: string | undefined,
): Promise<Reservation | undefined> {
  return reserve(auth, user, (read, at) => {
    const known = knownClient(auth, read, client)
    return known && client !== undefined
      ? ownBudget(auth, read, { known, client }, at)
      : sharedBudget(auth, read, at)
  })
}

/**
 * Reserves an answer to the second step of a sign-in, like `reserveGuess`. Only a user who has passed the first step
 * can answer, so there is one count for all clients. Only a sign-in clears it: a password reset must not give more
 * answers.
 */
export function reserveAnswer(auth: AuthInstance, user: Fields): Promise<Reservation | undefined> {
  return reserve(auth, user, (read, at) => sharedBudget(auth, read, at, answerCount(auth)))
}

/** Parallel guesses move an account from one case to the next, and overtake each other. */
const MAX_CASES = 20

async function reserve(
  auth: AuthInstance,
  user: Fields,
  budgetOf: (user: Fields, at: number) => Budget | undefined,
): Promise<Reservation | undefined> {
  const byId = withId(String(user._id))
  let read: Fields | undefined = user
  for (let tries = 0; read && tries < MAX_CASES; tries += 1) {
    const budget = budgetOf(read, auth.now())
    if (!budget) return undefined
    const { filter, change, expect } = budget
    const counted = await auth.engine.stored.update(all([byId, filter]), change, { expect })
    if (counted) return budget.reserved(counted)
    read = await userById(auth, String(user._id))
  }
  return undefined
}

/** Where a count and its lock are stored. */
interface Count {
  readonly count: string
  readonly lockedUntil: string
  /** The count in a row, which no time ends. */
  readonly row?: string | undefined
}

function guessCount(auth: AuthInstance): Count {
  const { failedLoginAttempts: count, lockedUntil } = auth.names
  return { count, lockedUntil, row: rowField(auth) }
}

/** The count of guesses, if the model has no separate one. */
function answerCount(auth: AuthInstance): Count {
  const { answerAttempts: count, answersLockedUntil: lockedUntil } = auth.names
  return countsAnswers(auth) ? { count, lockedUntil } : { ...guessCount(auth), row: undefined }
}

/** Whether the model has a separate count for answers to second steps. */
export function countsAnswers({ names, settings }: AuthInstance): boolean {
  const { fields } = settings.model.shape
  return fields.has(names.answerAttempts) && fields.has(names.answersLockedUntil)
}

/** When the lock ends for `client`, in seconds from now, for `lockout.reveal`. */
export function lockLeft(auth: AuthInstance, user: Fields, client: string | undefined): number {
  const { names } = auth
  const locks = [
    knownClient(auth, user, client)?.lockedUntil,
    user[names.lockedUntil],
    user[names.answersLockedUntil],
  ]
  const ends = locks.map((until) => (until instanceof Date ? until.getTime() : 0))
  return Math.max(1, Math.ceil((Math.max(...ends) - auth.now()) / 1000))
}

/** The step that counts a guess, and its result. */
interface Budget {
  readonly filter: Filter
  readonly change: Change
  readonly expect: Fields
  reserved(user: Fields): Reservation
}

/** Undefined while the client is locked out, or your app has locked the account for everyone. */
function ownBudget(
  auth: AuthInstance,
  user: Fields,
  { known, client }: { readonly known: KnownClient; readonly client: string },
  at: number,
): Budget | undefined {
  const { names, settings } = auth
  const { maxAttempts, lockSeconds } = settings.lockout
  const { lockedUntil, ...rest } = known
  const before = known.wrong ?? 0
  if (isAfter(lockedUntil, at) || isLockedByHand(auth, user, at)) return undefined
  if (before >= MOST_IN_A_ROW) return undefined
  const guesses = lockedUntil ? 1 : known.guesses + 1
  const wrong = before + 1
  const locks = guesses >= maxAttempts || wrong >= MOST_IN_A_ROW
  const longest = new Date(at + lockSeconds * 1000)
  const lock = guesses >= maxAttempts && { lockedUntil: longest }
  const counted = { ...rest, guesses, wrong, at: new Date(at), ...lock }
  const byGuesses: Filter = all([
    { op: 'gte', field: names.failedLoginAttempts, value: maxAttempts },
    { op: 'lte', field: names.lockedUntil, value: longest },
  ])
  // Entries of other clients may change meanwhile.
  const instead = (now: Fields, next: KnownClient) => {
    const own = knownClient(auth, now, client)
    return own?.guesses === guesses && own.wrong === wrong
      ? replaced(auth, now, own, next)
      : undefined
  }
  return {
    ...replaced(auth, user, known, counted),
    filter: any([
      { op: 'eq', field: names.lockedUntil, value: null },
      { op: 'lte', field: names.lockedUntil, value: new Date(at) },
      byGuesses,
    ]),
    reserved: (first) => ({
      user: first,
      locks,
      forgive: (now = first) => instead(now, { ...rest, guesses: guesses - 1, wrong: before }),
      clear: (now = first) => instead(now, fresh(auth, now, client)),
    }),
  }
}

/** A lock that was set by hand, not by guesses. */
function isLockedByHand({ names, settings }: AuthInstance, user: Fields, at: number): boolean {
  const { maxAttempts, lockSeconds } = settings.lockout
  const until = user[names.lockedUntil]
  const guesses = Number(user[names.failedLoginAttempts] ?? 0)
  return isAfter(until, at) && (guesses < maxAttempts || isAfter(until, at + lockSeconds * 1000))
}

/** Undefined while the account is locked, and after too many wrong passwords in a row. */
function sharedBudget(
  auth: AuthInstance,
  user: Fields,
  at: number,
  where: Count = guessCount(auth),
): Budget | undefined {
  const { count: field, lockedUntil, row } = where
  const until = user[lockedUntil]
  if (isAfter(until, at) || (row && Number(user[row] ?? 0) >= MOST_IN_A_ROW)) return undefined
  const guesses = Number(user[field] ?? 0)
  const step = stepFor(auth, where, { guesses, wasLocked: until instanceof Date, at })
  return {
    ...(row ? countedInRow(step, row) : step),
    expect: {},
    reserved(first) {
      const count = Number(first[field])
      const wrong = row ? Number(first[row]) : 0
      const back =
        (left: number, inRow: number) =>
        (now: Fields = first): Step | undefined => {
          const set = { [field]: left, ...(row && { [row]: inRow }) }
          const expect = { [field]: count, ...(row && { [row]: wrong }) }
          const isSame = Object.entries(expect).every(([name, value]) => now[name] === value)
          return isSame ? { change: { set, unset: [lockedUntil] }, expect } : undefined
        }
      const isLast = count >= auth.settings.lockout.maxAttempts
      const locks = isLast || wrong >= MOST_IN_A_ROW
      return { user: first, locks, forgive: back(count - 1, wrong - 1), clear: back(0, 0) }
    },
  }
}

/** The step, which counts in a row too, in the same write. */
function countedInRow({ filter, change }: DecoyStep, row: string): DecoyStep {
  const fewer: Filter = any([
    { op: 'eq', field: row, value: null },
    { op: 'lt', field: row, value: MOST_IN_A_ROW },
  ])
  const increment = { ...change.increment, [row]: 1 }
  return { filter: all([filter, fewer]), change: { ...change, increment } }
}

/** The step that counts a guess: after a lock that has ended, as the last guess before a lock, or as an earlier one. */
function stepFor(
  { settings }: AuthInstance,
  { count, lockedUntil }: Count,
  { guesses, wasLocked, at }: { guesses: number; wasLocked: boolean; at: number },
): { filter: Filter; change: Change } {
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
