/**
 * Lockout: guesses at a password are counted before they are evaluated, so that parallel ones cannot bypass the counter.
 * Clients that the account knows have a count of their own, see known-clients.ts.
 */

import { all, type Filter } from '../../ports/store/filter.ts'
import type { Fields } from '../../ports/store/records.ts'
import type { AuthSettings } from '../setup/settings.ts'
import {
  type Count,
  countingStep,
  isLocking,
  type KnownClient,
  type KnownClients,
  type Limits,
  MAX_IN_A_ROW,
} from './known-clients.ts'
import { type DummyWrite, isAfter, NOBODY, together, type Users, type Write } from './users.ts'

/** A guess that may be evaluated. */
export interface Reservation {
  /** The user as read when the guess was counted. */
  readonly user: Fields
  /** Whether this guess is the last one, and has locked the account. */
  readonly locks: boolean
  /** The client that has a count of its own, and its entry in `user`. */
  readonly known?: { readonly client: string; readonly entry: KnownClient }
  /** What was counted, with this guess; `wrong` in a row, over any time. */
  readonly counted: Readonly<Record<'guesses' | 'wrong', number>>
  /** Where it was counted, if the client has no count of its own. */
  readonly count: Count
}

type Budget = Write & Pick<Reservation, 'known' | 'count'>

/** Parallel guesses move an account from one case to the next, and overtake each other. */
const MAX_CASES = 20
/** How often others may write the record while a guess is taken back. */
const MAX_TRIES = 5

export class Lockout {
  /** The parts of the change that clears the account's own lockout. */
  readonly cleared: { readonly set: Fields; readonly unset: readonly string[] }
  /** Whether the model has a separate count for answers to second steps. */
  readonly countsAnswers: boolean
  readonly #users: Users
  readonly #clients: KnownClients
  readonly #dummyWrite: DummyWrite
  readonly #limits: Limits
  readonly #guesses: Count
  readonly #answers: Count

  constructor(
    users: Users,
    clients: KnownClients,
    { maxAttempts, lockSeconds }: AuthSettings['lockout'],
    dummyWrite: DummyWrite,
  ) {
    const { names } = users
    this.#users = users
    this.#clients = clients
    this.#dummyWrite = dummyWrite
    this.#limits = { max: maxAttempts, lockMs: lockSeconds * 1000 }
    this.#guesses = {
      guesses: names.failedLoginAttempts,
      lockedUntil: names.lockedUntil,
      row: users.has('wrongPasswords') ? names.wrongPasswords : undefined,
    }
    this.countsAnswers = users.has('answerAttempts') && users.has('answersLockedUntil')
    this.#answers = this.countsAnswers
      ? {
          guesses: names.answerAttempts,
          lockedUntil: names.answersLockedUntil,
          row: undefined,
          growing: true,
        }
      : { ...this.#guesses, row: undefined }
    this.cleared = {
      set: users.has('lockedUntil') ? { [names.failedLoginAttempts]: 0 } : {},
      unset: users.declared([names.lockedUntil, names.wrongPasswords]),
    }
  }

  /**
   * Reserves a guess of `client` at the password of `user`, as read; undefined if it may make none, which takes as many
   * writes. One conditional step counts the guess before it is evaluated. The guess that reaches the maximum locks the
   * account for that client, or for all clients that it does not know. A right guess clears the count.
   */
  async reserveGuess(
    user: Fields | undefined,
    client: string | undefined,
  ): Promise<Reservation | undefined> {
    const reservation =
      user &&
      (await this.#reserve(user, (read) => {
        const known = this.#clients.find(read, client)
        return known && client !== undefined
          ? this.#ownBudget(read, known, client)
          : this.#sharedBudget(read, this.#guesses)
      }))
    if (reservation) return reservation
    // Looked up anyway: it takes time.
    if (!user) this.#clients.find(NOBODY, client)
    await this.#dummyWrite(countingStep(this.#guesses, this.#limits, NOBODY, this.#users.now()))
    return undefined
  }

  /**
   * Reserves an answer to the second step of a sign-in, like `reserveGuess`. Only a user who has passed the first step
   * can answer, so there is one count for all clients. Only a sign-in clears it: a password reset must not give more
   * answers. None is taken while the account is locked for the client, unless a `provider` vouched: those sign in to it.
   */
  reserveAnswer(
    user: Fields,
    client: string | undefined,
    provider: unknown,
  ): Promise<Reservation | undefined> {
    return this.#reserve(user, (read) =>
      provider || !this.isLocked(read, client)
        ? this.#sharedBudget(read, this.#answers)
        : undefined,
    )
  }

  isLocked(user: Fields, client: string | undefined): boolean {
    const at = this.#users.now()
    const known = this.#clients.find(user, client)
    if (known) return isAfter(known.lockedUntil, at) || this.#isLockedByHand(user, at)
    return isAfter(user[this.#guesses.lockedUntil], at)
  }

  /** Whether `client` can sign in to `user` by password only after a reset. */
  isEnded(user: Fields, client: string | undefined): boolean {
    const own = this.#clients.find(user, client)
    const wrong = own ? own.wrong : user[this.#users.names.wrongPasswords]
    return Number(wrong ?? 0) >= MAX_IN_A_ROW
  }

  /** When the lock ends for `client`, in seconds from now, for `lockout.reveal`. */
  secondsLeft(user: Fields, client: string | undefined): number {
    const { lockedUntil, answersLockedUntil } = this.#users.names
    const own = this.#clients.find(user, client)?.lockedUntil
    const ends = [own, user[lockedUntil], user[answersLockedUntil]].map((until) =>
      until instanceof Date ? until.getTime() : 0,
    )
    return Math.max(1, Math.ceil((Math.max(...ends) - this.#users.now()) / 1000))
  }

  /**
   * The step that takes a guess back, `'forgive'`, or with it all that were counted together with it, `'clear'`, for the
   * user as read again. If others were counted meanwhile, only itself: they are still being evaluated. Undefined if nothing
   * of it is counted any more.
   */
  stepBack(
    reservation: Reservation,
    how: 'forgive' | 'clear',
    now: Fields = reservation.user,
  ): Write | undefined {
    const { known, counted, count } = reservation
    if (known) return this.#ownStepBack(reservation, known, how, now)
    const { guesses, row, lockedUntil } = count
    const isSame = now[guesses] === counted.guesses && (!row || now[row] === counted.wrong)
    if (!isSame) return this.#lessOne(now, count)
    const less = (number: number) => (how === 'clear' ? 0 : number - 1)
    const set = { [guesses]: less(counted.guesses), ...(row && { [row]: less(counted.wrong) }) }
    const expect = { [guesses]: counted.guesses, ...(row && { [row]: counted.wrong }) }
    return { set, unset: [lockedUntil], expect }
  }

  /** Ends a lock that was due to the guess: right ones at the same moment must not lock an account. */
  #lessOne(now: Fields, count: Count): Write | undefined {
    const { guesses, row, lockedUntil } = count
    const fields = [guesses, row].filter((field) => field !== undefined && Number(now[field]) > 0)
    if (!fields.includes(guesses)) return undefined
    const locks = isLocking(count, Number(now[guesses]), this.#limits)
    const isDue = locks && !this.#isLockedByHand(now, this.#users.now())
    const counted = fields.map((field): Filter => ({ op: 'gt', field: field as string, value: 0 }))
    return {
      increment: Object.fromEntries(fields.map((field) => [field, -1])),
      ...(isDue && { unset: [lockedUntil] }),
      expect: { [lockedUntil]: now[lockedUntil], ...(isDue && { [guesses]: now[guesses] }) },
      filter: all(counted),
    }
  }

  #ownStepBack(
    { counted, user }: Reservation,
    { client, entry }: NonNullable<Reservation['known']>,
    how: 'forgive' | 'clear',
    now: Fields,
  ): Write | undefined {
    const own = now === user ? entry : this.#clients.find(now, client)
    if (!own || own.guesses === 0) return undefined
    const isSame = own.guesses === counted.guesses && own.wrong === counted.wrong
    const { lockedUntil: _, ...rest } = own
    const forgiven = { ...rest, guesses: own.guesses - 1, wrong: Math.max(0, (own.wrong ?? 0) - 1) }
    const next = how === 'clear' && isSame ? this.#clients.fresh(now, client, own) : forgiven
    return this.#clients.replacing(now, own, next)
  }

  /**
   * Takes such a step, if the password is still the same. `set` is written with it. The user after it; undefined if there is
   * nothing to take back.
   */
  async takeBack(
    reservation: Reservation,
    how: 'forgive' | 'clear',
    set: Fields = {},
  ): Promise<Fields | undefined> {
    const { password } = this.#users.names
    const { user } = reservation
    const same = { set, expect: { [password]: user[password] } }
    const written = await this.#users.rewrite(user, MAX_TRIES, (read) => {
      const step = this.stepBack(reservation, how, read)
      return step && together(step, same)
    })
    return written?.after
  }

  async #reserve(
    user: Fields,
    budgetFor: (user: Fields) => Budget | undefined,
  ): Promise<Reservation | undefined> {
    const done = await this.#users.rewrite(user, MAX_CASES, budgetFor)
    if (!done) return undefined
    const { after, written } = done
    const { known, count } = written
    const counted = {
      guesses: Number(known ? known.entry.guesses : after[count.guesses]),
      wrong: Number((known ? known.entry.wrong : count.row && after[count.row]) ?? 0),
    }
    const locks = isLocking(count, counted.guesses, this.#limits) || counted.wrong >= MAX_IN_A_ROW
    return { user: after, locks, counted, count, ...(known && { known }) }
  }

  /** Undefined while the client is locked out, or your app has locked the account for everyone. */
  #ownBudget(user: Fields, known: KnownClient, client: string): Budget | undefined {
    const at = this.#users.now()
    const { lockedUntil, ...rest } = known
    const wrong = known.wrong ?? 0
    if (lockedUntil && isAfter(lockedUntil, at)) return undefined
    if (this.#isLockedByHand(user, at) || wrong >= MAX_IN_A_ROW) return undefined
    const guesses = lockedUntil ? 1 : known.guesses + 1
    const lock = guesses >= this.#limits.max && { lockedUntil: new Date(at + this.#limits.lockMs) }
    const entry = { ...rest, guesses, wrong: wrong + 1, at: new Date(at), ...lock }
    const { set, expect } = this.#clients.replacing(user, known, entry)
    const { lockedUntil: field } = this.#guesses
    // A lock that was set by hand meanwhile holds for every client.
    const unlocked = { ...expect, [field]: user[field] }
    return { set, expect: unlocked, known: { client, entry }, count: this.#guesses }
  }

  /** A lock that was set by hand, not by guesses. */
  #isLockedByHand(user: Fields, at: number): boolean {
    const until = user[this.#guesses.lockedUntil]
    const end = until instanceof Date ? until.getTime() : 0
    const guesses = Number(user[this.#guesses.guesses] ?? 0)
    return end > at && (guesses < this.#limits.max || end > at + this.#limits.lockMs)
  }

  /** Undefined while the account is locked, and after too many wrong passwords in a row. */
  #sharedBudget(user: Fields, count: Count): Budget | undefined {
    const at = this.#users.now()
    const { lockedUntil, row } = count
    const isEnded = row !== undefined && Number(user[row] ?? 0) >= MAX_IN_A_ROW
    if (isAfter(user[lockedUntil], at) || isEnded) return undefined
    return { ...countingStep(count, this.#limits, user, at), count }
  }
}
