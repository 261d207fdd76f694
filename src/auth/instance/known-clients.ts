/**
 * The clients that an account knows: those that have signed in to it. Each has its own number of guesses at the
 * password; all other clients share the account's number. Codes have two numbers of tries: one for all known clients,
 * one for all others. So a stranger who guesses, or who locks the account on purpose, does not lock the owner out on
 * the devices where they have signed in (ASVS 6.1.1).
 */

import { sameText } from '../../http/base64url.ts'
import { all, any, type Filter, is } from '../../ports/store/filter.ts'
import type { Fields } from '../../ports/store/records.ts'
import { type Keys, seal } from '../keys/signing.ts'
import { isAfter, replacing, type Users, type Write } from './users.ts'

/** A client that has signed in, as it is stored. */
export interface KnownClient {
  /** The seal of the client's key: the record does not reveal where someone signs in from. */
  readonly client: string
  readonly guesses: number
  /** Its wrong passwords in a row, over any time. */
  readonly wrong?: number
  readonly lockedUntil?: Date
  /** When it last signed in or guessed. */
  readonly at: Date
}

const MAX_CLIENTS = 5

export class KnownClients {
  readonly field: string
  readonly #users: Users
  readonly #keys: Keys
  readonly #isKept: boolean

  constructor(users: Users, keys: Keys) {
    this.field = users.names.knownClients
    this.#users = users
    this.#keys = keys
    this.#isKept = users.has('knownClients')
  }

  /** The entry of `client` in `user`; undefined if it has not signed in, or the client is unknown. */
  find(user: Fields, client: string | undefined): KnownClient | undefined {
    if (client === undefined) return undefined
    // Computed whether or not there is something to compare with: it takes time.
    const seals = this.#keys.all.map((key) => seal(key, textOf(user, client)))
    const known = this.#list(user)
    return known.find((one) => seals.some((sealed) => sameText(sealed, one.client)))
  }

  isKnown(user: Fields | undefined, client: string | undefined): boolean {
    return user !== undefined && this.find(user, client) !== undefined
  }

  replacing(user: Fields, known: KnownClient, next: KnownClient): Record<'set' | 'expect', Fields> {
    const list = this.#list(user).map((each) => (each.client === known.client ? next : each))
    return replacing(user, this.field, list)
  }

  /** The client of `user` with that key, without any guesses, sealed by the first secret; `before` is its entry until now. */
  fresh(user: Fields, key: string, before?: KnownClient): KnownClient {
    const { current } = this.#keys
    const isCurrent = before?.client.startsWith(`${current.id}.`) === true
    const client = before && isCurrent ? before.client : seal(current, textOf(user, key))
    return { client, guesses: 0, at: new Date(this.#users.now()) }
  }

  /**
   * The write by which the account knows `client`, a stranger so far, and whether it knew others. When all places are taken, the longest known
   * client makes room, but not one whose guesses still count: otherwise someone who can sign in from many places would
   * get endless new guesses. If none can be dropped, nothing is written, and the client stays a stranger.
   */
  adding(
    user: Fields,
    client: string | undefined,
  ): { readonly write?: Write | undefined; readonly knewOthers: boolean } {
    if (!this.#isKept || client === undefined) return { knewOthers: false }
    const known = this.#list(user)
    const others = this.#withRoom(known)
    const write = others && replacing(user, this.field, [...others, this.fresh(user, client)])
    return { write, knewOthers: known.length > 0 }
  }

  /** The part of a change after which `user` knows only `client`, without any guesses. */
  only(user: Fields, client: string | undefined): Fields {
    if (!this.#isKept) return {}
    return { [this.field]: client === undefined ? [] : [this.fresh(user, client)] }
  }

  /** The clients that stay when one is added; undefined if none may be dropped. */
  #withRoom(list: readonly KnownClient[]): readonly KnownClient[] | undefined {
    if (list.length < MAX_CLIENTS) return list
    const now = this.#users.now()
    const lockMs = this.#users.settings.lockout.lockSeconds * 1000
    const mayGo = ({ guesses, lockedUntil, at }: KnownClient) =>
      (guesses === 0 || !isAfter(at, now - lockMs)) && !isAfter(lockedUntil, now)
    const first = list.find(mayGo)
    return first && list.filter((each) => each !== first).slice(1 - MAX_CLIENTS)
  }

  #list(user: Fields): readonly KnownClient[] {
    const stored = user[this.field]
    return Array.isArray(stored) ? stored.filter(isKnownClient) : []
  }
}

/** Includes the account, so that two records do not reveal that they share a client. */
function textOf({ _id }: Fields, client: string): string {
  return JSON.stringify([String(_id), client])
}

function isKnownClient(value: unknown): value is KnownClient {
  const { client, guesses, at } = (value ?? {}) as Readonly<Record<string, unknown>>
  return typeof client === 'string' && typeof guesses === 'number' && at instanceof Date
}

/** The window of a code of this kind, by its end. */
export interface WindowEnd {
  readonly kind: string
  readonly until: Date
}

/** The tries of known clients in a window. */
interface KnownTries extends WindowEnd {
  readonly count: number
}

function isSameEnd(one: WindowEnd, other: WindowEnd): boolean {
  return one.kind === other.kind && one.until.getTime() === other.until.getTime()
}

function knownTriesIn(stored: unknown): readonly KnownTries[] {
  return Array.isArray(stored) ? stored.filter(isKnownTries) : []
}

function isKnownTries(value: unknown): value is KnownTries {
  const { kind, until, count } = (value ?? {}) as Readonly<Record<string, unknown>>
  return typeof kind === 'string' && until instanceof Date && typeof count === 'number'
}

/** The tries of known clients plus one in each of the windows; those of earlier windows of these kinds are dropped. */
export function triesAfter(stored: unknown, ends: readonly WindowEnd[]): readonly KnownTries[] {
  const tries = knownTriesIn(stored)
  const others = tries.filter((one) => !ends.some(({ kind }) => kind === one.kind))
  const countIn = (end: WindowEnd) => tries.find((one) => isSameEnd(one, end))?.count ?? 0
  return [...others, ...ends.map((end) => ({ ...end, count: countIn(end) + 1 }))]
}

/** The tries of known clients less one in each of the windows. */
export function triesTakenBack(stored: unknown, ends: readonly WindowEnd[]): readonly KnownTries[] {
  return knownTriesIn(stored).map((one) =>
    ends.some((end) => isSameEnd(one, end)) ? { ...one, count: one.count - 1 } : one,
  )
}

/**
 * So many wrong passwords in a row, over any time, end password sign-in until the password is reset (NIST SP 800-63B-4,
 * 3.2.2).
 */
export const MAX_IN_A_ROW = 100

/** Leaves a few guesses a day to those who have the password. */
const MAX_GROWN_LOCK_MS = 86_400_000

/** Where a count and its lock are stored. */
export interface Count {
  readonly guesses: string
  readonly lockedUntil: string
  /** The count in a row, which no time ends; undefined if the model has none. */
  readonly row: string | undefined
  /** Whether guesses go on being counted after a lock, and each lock is longer than the one before. */
  readonly growing?: boolean
}

export interface Limits {
  readonly max: number
  readonly lockMs: number
}

/** Whether so many counted guesses lock. */
export function isLocking({ growing }: Count, guesses: number, { max }: Limits): boolean {
  return growing ? guesses % max === 0 : guesses >= max
}

/** Each lock lasts twice as long as the one before: those who get here have the password, and all the time they want. */
function growingStep(count: Count, limits: Limits, user: Fields, at: number): Write {
  const { guesses: field, lockedUntil } = count
  const guesses = Number(user[field] ?? 0) + 1
  const longer = limits.lockMs * 2 ** (guesses / limits.max - 1)
  const lockMs = Math.max(limits.lockMs, Math.min(longer, MAX_GROWN_LOCK_MS))
  return {
    increment: { [field]: 1 },
    ...(isLocking(count, guesses, limits)
      ? { set: { [lockedUntil]: new Date(at + lockMs) } }
      : { unset: [lockedUntil] }),
    expect: { [field]: user[field], [lockedUntil]: user[lockedUntil] },
  }
}

/**
 * The step that counts a guess: after a lock that has ended, as the last guess before a lock, or as an earlier one. The
 * record as it was read only decides which of them it is.
 */
export function countingStep(count: Count, limits: Limits, user: Fields, at: number): Write {
  if (count.growing) return growingStep(count, limits, user, at)
  const { guesses: field, lockedUntil, row } = count
  const { max, lockMs } = limits
  const lock = { [lockedUntil]: new Date(at + lockMs) }
  const rows = row === undefined ? [] : [below(row, MAX_IN_A_ROW)]
  const inRow = row && { [row]: 1 }
  if (user[lockedUntil] instanceof Date) {
    const ended: Filter = { op: 'lte', field: lockedUntil, value: new Date(at) }
    const first = { [field]: 1 }
    return {
      ...(max === 1 ? { set: { ...first, ...lock } } : { set: first, unset: [lockedUntil] }),
      ...(inRow && { increment: inRow }),
      filter: all([ended, ...rows]),
    }
  }
  const isLast = Number(user[field] ?? 0) >= max - 1
  const last: Filter = { op: 'gte', field, value: max - 1 }
  const reached = max === 1 ? any([is(field, null), last]) : last
  return {
    increment: { [field]: 1, ...inRow },
    ...(isLast && { set: lock }),
    filter: all([is(lockedUntil, null), isLast ? reached : below(field, max - 1), ...rows]),
  }
}

function below(field: string, value: number): Filter {
  return any([is(field, null), { op: 'lt', field, value }])
}
