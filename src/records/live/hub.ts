/** What reads the log of changes for all live lists of a process, while there are some. */

import { outside } from '#contexts'
import { causeOf, outageLog } from '../../http/errors/outages.ts'
import type { Model } from '../../model/model.ts'
import { countFor, nextTurn } from '../../ports/promises/turns.ts'
import type { ChangeLog, LoggedChange } from '../../ports/store/changes.ts'
import type { Filter } from '../../ports/store/filter.ts'
import { madeOnce } from '../../ports/values/once.ts'
import { logOf } from '../engine/author.ts'
import type { Host } from '../engine/host.ts'
import { Followers } from './followers.ts'

/** How many entries are read at a time. */
const PART = 500
/** How often the log is read if nothing wakes the reader, in milliseconds. */
const READ_MS = 1000
/** How often it is read at most, so that what is written in quick succession is read together. */
const GATHER_MS = 10
/** How often it is looked who is to be called. */
const TICK_MS = 100
/** How many are called before others have a turn: what they do then is soon done, and leaves no memory behind. */
const TOGETHER = 16

/**
 * The most entries that are told after a position, and the most characters that they have: the list itself is shorter. After a
 * deploy, all clients come at once.
 */
const MOST_ENTRIES = 1000
const MOST_LENGTH = 1024 * 1024

export interface Listener {
  readonly model: Model
  readonly filter: Filter
  /** An entry of the log that may concern it. */
  take(change: LoggedChange): void
  /** An entry of a model of accounts. */
  takeAccount(change: LoggedChange): void
  /** Entries are missing: it has to begin anew. */
  missed(): void
  /** It is time for what it does then; returns when to call it again. All times are by `performance.now()`. */
  due(now: number): number
}

/** Does a round whenever it is rung, one at a time: however often it is rung during one, one more follows. */
export abstract class Rounds {
  #isUnderWay = false
  #isRung = false

  /** Does what there is to do; must not reject. */
  protected abstract round(): Promise<void>

  /** There may be something to do. */
  protected ring(): void {
    this.#isRung = true
    if (!this.#isUnderWay) void this.#goRound()
  }

  async #goRound(): Promise<void> {
    this.#isUnderWay = true
    while (this.#isRung) {
      this.#isRung = false
      await this.round()
    }
    this.#isUnderWay = false
  }
}

export class Hub extends Rounds {
  readonly log: ChangeLog
  readonly #host: Host
  readonly #isAlone: boolean
  /** Each with when it is called next: a timer for each would cost more than all else that it does while idle. */
  readonly #listeners = new Map<Listener, number>()
  readonly #byModel = new Map<string, Followers<Listener>>()
  readonly #leftOut = outageLog()
  #position: string | undefined
  #readAt = 0
  #soon: ReturnType<typeof setTimeout> | undefined
  #starting: Promise<void> | undefined
  #stop: (() => void) | undefined

  /** If it `isAlone`, it listens to nothing that other requests do. */
  constructor(host: Host, isAlone: boolean) {
    super()
    this.log = logOf(host)
    this.#host = host
    this.#isAlone = isAlone
  }

  /** Passes on to `listener` what is written from now on, at least; resolves when it does. */
  async join(listener: Listener): Promise<void> {
    this.#listeners.set(listener, listener.due(performance.now()))
    this.#followersOf(listener).add(listener)
    // It goes on when the request has ended that has begun it.
    this.#starting ??= outside(() => this.#start())
    const starting = this.#starting
    try {
      await starting
    } catch (error) {
      if (this.#starting === starting) this.#starting = undefined
      throw error
    }
  }

  leave(listener: Listener): void {
    if (!this.#listeners.delete(listener)) return
    this.#followersOf(listener).remove(listener)
    if (this.#listeners.size === 0) this.ring()
  }

  /** The filter of a listener changes with `change`. */
  move(listener: Listener, change: () => void): void {
    const isThere = this.#listeners.has(listener)
    if (isThere) this.#followersOf(listener).remove(listener)
    change()
    if (isThere) this.#followersOf(listener).add(listener)
  }

  /** The entries of a model after a position; undefined if that is not known, or if they are too many. */
  async missedAfter(position: string, model: string): Promise<readonly LoggedChange[] | undefined> {
    const missed: LoggedChange[] = []
    let [limit, length] = [2, 0]
    for (let after = position; ; ) {
      const read = await this.log.read(after, { limit, models: [model] })
      if ('gone' in read) return undefined
      missed.push(...read.changes)
      length += JSON.stringify(read.changes).length
      if (missed.length >= MOST_ENTRIES || length > MOST_LENGTH) return undefined
      if (read.changes.length < limit) return missed
      after = read.position
      limit = countFor(length / missed.length, MOST_ENTRIES)
      await nextTurn()
    }
  }

  #followersOf({ model: { name } }: Listener): Followers<Listener> {
    const followers = this.#byModel.get(name) ?? new Followers()
    this.#byModel.set(name, followers)
    return followers
  }

  async #start(): Promise<void> {
    this.#position = await this.log.position()
    const quiet = this.#isAlone ? () => {} : this.log.wake(() => outside(() => this.#ringSoon()))
    const timer = setInterval(() => void this.#callDue(), this.#isAlone ? READ_MS : TICK_MS)
    this.#stop = () => {
      quiet()
      clearInterval(timer)
      clearTimeout(this.#soon)
      this.#soon = undefined
      this.#starting = undefined
      this.#stop = undefined
    }
    this.ring()
  }

  #ringSoon(): void {
    if (this.#soon) return
    const ms = Math.max(0, this.#readAt + GATHER_MS - performance.now())
    this.#soon = setTimeout(() => {
      this.#soon = undefined
      this.ring()
    }, ms)
  }

  async #callDue(): Promise<void> {
    const now = performance.now()
    if (now - this.#readAt >= READ_MS) this.ring()
    const called: Listener[] = []
    for (const [listener, at] of this.#listeners) {
      if (at > now) continue
      this.#listeners.set(listener, Number.POSITIVE_INFINITY)
      called.push(listener)
    }
    for (const [at, listener] of called.entries()) {
      if (at % TOGETHER === TOGETHER - 1) await nextTurn()
      if (this.#listeners.has(listener)) this.#listeners.set(listener, listener.due(now))
    }
  }

  protected async round(): Promise<void> {
    if (this.#listeners.size === 0) {
      this.#stop?.()
      return
    }
    this.#readAt = performance.now()
    try {
      // Between parts, the lists send what they have.
      while (await this.#readPart()) await nextTurn()
    } catch (error) {
      // One that may ask no more on Workers, which limit the queries of a request, ends with that, and its client goes on.
      if (this.#isAlone) for (const listener of [...this.#listeners.keys()]) listener.missed()
      // It is read again soon: nothing is lost.
      if (this.#leftOut(error) === undefined) return
      this.#host.logger.error('live lists are interrupted', { error: causeOf(error) })
    }
  }

  /** Whether there may be more. */
  async #readPart(): Promise<boolean> {
    // All models that are logged: one that is followed later is among them already.
    const models = [...this.#host.known()].filter(({ changes }) => changes).map(({ name }) => name)
    const read = await this.log.read(this.#position, { limit: PART, models })
    if ('gone' in read) {
      this.#position = await this.log.position()
      for (const listener of [...this.#listeners.keys()]) listener.missed()
      return false
    }
    this.#position = read.position
    for (const change of read.changes) this.#passOn(change)
    return read.changes.length === PART
  }

  #passOn(change: LoggedChange): void {
    const isAccount = [...this.#host.accounts.keys()].some(({ name }) => name === change.model)
    if (isAccount) for (const listener of [...this.#listeners.keys()]) listener.takeAccount(change)
    const followers = this.#byModel.get(change.model)
    if (!followers) return
    const records = [change.before, change.after].filter((one) => one !== null)
    for (const listener of followers.of(records)) listener.take(change)
  }
}

const ownHub = madeOnce((host: Host) => new Hub(host, false))

/** What live lists of `host` listen to; on Workers each has its own, as what a request has begun there ends with it. */
export function hubOf(host: Host): Hub {
  const { navigator } = globalThis as { navigator?: { userAgent?: string } }
  if (navigator?.userAgent === 'Cloudflare-Workers') return new Hub(host, true)
  return ownHub(host)
}
