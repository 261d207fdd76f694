/** The connections of a store, each used by one call at a time and never again once it broke, and the calls that wait for them. */

import { setTimeout as pause } from 'node:timers/promises'
import type { Sql } from 'postgres'
import { unlessAborted } from '../../unless-aborted.ts'
import { codeOf, isConnectionLost, NO_ROOM } from '../layout/errors.ts'

/** How long a connection may be idle, in milliseconds. Gateways drop idle connections silently. */
const IDLE_MS = 60_000
/** How long a connection is used at most, in milliseconds. */
const LIFE_MS = 3_600_000
/** How long no other call tries to open the connection that the server had no room for, in milliseconds. */
const FULL_MS = 250

/**
 * One connection: a client of the driver that opens no second one, or a share of the app's own client.
 *
 * postgres.js 3.4.9 sends further statements to a connection that waits for an answer, and uses one that broke again.
 * Then a statement that it has to prepare anew confuses the answers of those behind it, and one that was sent while the
 * connection broke waits forever, or gets the result of the next.
 */
export class PooledConnection {
  readonly sql: Sql
  readonly #oldAt = performance.now() + LIFE_MS * (0.5 + Math.random() / 2)
  /** By the clock of the day: others may stand still while the process is frozen. */
  idleSince: number = Date.now()
  /** Since when a call has used it; undefined while it is idle. */
  usedSince: number | undefined
  /** The server's process, once it has answered. */
  pid: number | undefined
  isLost = false
  #fail: ((reason: unknown) => void) | undefined
  /** The statement that the first call sends before its own. */
  #first: string | undefined

  constructor(sql: Sql, first?: string) {
    this.sql = sql
    this.#first = first
  }

  /** Whether it has been there for so long that another should be made. */
  get isOld(): boolean {
    return performance.now() > this.#oldAt
  }

  use<T>(work: (pooled: PooledConnection) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.usedSince = performance.now()
      this.#fail = reject
      const working = this.#first === undefined ? work(this) : this.#begin(work, this.#first)
      working.then(resolve, (error: unknown) => {
        if (isConnectionLost(error)) this.lose(error)
        reject(error)
      })
    })
  }

  async #begin<T>(work: (pooled: PooledConnection) => Promise<T>, first: string): Promise<T> {
    const query = this.sql.unsafe(first)
    await query
    this.pid = processOf(query)
    this.#first = undefined
    return work(this)
  }

  /** Its connection broke: ends the call that uses it. */
  lose(reason: unknown): void {
    this.isLost = true
    this.#fail?.(reason)
  }
}

/** The process of the server that runs `query`, once it is sent. */
export function processOf(query: object): number | undefined {
  return (query as { readonly state?: { readonly pid?: number } | null }).state?.pid
}

export interface ConnectionMaker {
  readonly most: number
  make(): PooledConnection
  end(pooled: PooledConnection): Promise<void>
}

export class ConnectionPool {
  readonly #maker: ConnectionMaker
  readonly #all = new Set<PooledConnection>()
  /** Those that no call uses, the longest idle first. */
  readonly #idle: PooledConnection[] = []
  /** One for all: to set and clear one for each call would cost more than the rest of this. */
  #retiring: ReturnType<typeof setTimeout> | undefined
  readonly #places: Share

  /** Throws a `TypeError` if the driver finds something wrong with the address. */
  constructor(maker: ConnectionMaker) {
    this.#maker = maker
    this.#places = new Share(maker.most)
    this.#idle.push(this.#another())
  }

  /** Calls `work` with a connection that nothing else uses meanwhile. */
  use<T>(work: (pooled: PooledConnection) => Promise<T>): Promise<T> {
    return this.#places.use(async () => {
      const pooled = this.#next()
      try {
        return await pooled.use(work)
      } catch (error) {
        // Meanwhile calls wait for the connections that there are.
        if (codeOf(error) === NO_ROOM) await pause(FULL_MS)
        throw error
      } finally {
        this.#free(pooled)
      }
    })
  }

  /** The connections that calls have used for at least `ms` milliseconds. */
  usedFor(ms: number): PooledConnection[] {
    const latest = performance.now() - ms
    return [...this.#all].filter(({ usedSince = latest + 1 }) => usedSince <= latest)
  }

  /** Ends the calls that use or await a connection with `reason`; the next calls get new connections. */
  lose(reason: unknown): void {
    this.#places.lose(reason)
    for (const pooled of this.#idle.splice(0)) void this.#discard(pooled)
    for (const pooled of this.#all) pooled.lose(reason)
    clearTimeout(this.#retiring)
    this.#retiring = undefined
  }

  async end(): Promise<void> {
    clearTimeout(this.#retiring)
    await Promise.all([...this.#all].map((pooled) => this.#discard(pooled)))
  }

  #next(): PooledConnection {
    // Those of a process that was frozen are still here.
    const since = Date.now() - IDLE_MS
    for (let pooled = this.#idle.pop(); pooled; pooled = this.#idle.pop()) {
      if (!pooled.isLost && pooled.idleSince > since) return pooled
      void this.#discard(pooled)
    }
    return this.#another()
  }

  #another(): PooledConnection {
    const pooled = this.#maker.make()
    this.#all.add(pooled)
    return pooled
  }

  #free(pooled: PooledConnection): void {
    if (pooled.isLost || pooled.isOld) return void this.#discard(pooled)
    pooled.usedSince = undefined
    pooled.idleSince = Date.now()
    this.#idle.push(pooled)
    this.#retiring ??= setTimeout(() => this.#retire(), IDLE_MS)
  }

  /** Ends the connections that have been idle for too long. */
  #retire(): void {
    const since = Date.now() - IDLE_MS
    const left = this.#idle.filter(({ idleSince }) => idleSince <= since)
    for (const pooled of this.#idle.splice(0, left.length)) void this.#discard(pooled)
    const [next] = this.#idle
    this.#retiring = next && setTimeout(() => this.#retire(), next.idleSince - since)
  }

  #discard(pooled: PooledConnection): Promise<void> {
    this.#all.delete(pooled)
    return this.#maker.end(pooled)
  }
}

/** A number of places. Calls beyond it wait, in their order. */
export class Share {
  #free: number
  readonly #waiting = new Set<PromiseWithResolvers<void>>()

  constructor(most: number) {
    this.#free = most
  }

  /** The result of `work`, once there is a place. Rejects with the signal's reason if that aborts first. */
  async use<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (this.#free > 0) this.#free -= 1
    else await this.#place(signal)
    try {
      return await work()
    } finally {
      const [next] = this.#waiting
      if (!next) this.#free += 1
      else this.#waiting.delete(next)
      next?.resolve()
    }
  }

  /** Ends the calls that wait for a place. */
  lose(reason: unknown): void {
    for (const { reject } of this.#waiting) reject(reason)
    this.#waiting.clear()
  }

  #place(signal: AbortSignal | undefined): Promise<void> {
    const place = Promise.withResolvers<void>()
    this.#waiting.add(place)
    return unlessAborted(place.promise, signal, () => this.#waiting.delete(place))
  }
}

/** How long a call may wait for the database before it is asked whether it still answers, in milliseconds. */
export const PATIENCE_MS = 2500

/** The calls under way. When the first of them has waited for a while, somebody looks whether that makes sense. */
export class Calls {
  /** Since when each is, in the order in which they began. */
  readonly #underWay = new Map<Promise<unknown>, number>()
  readonly #look: () => Promise<unknown>
  /** One for all calls: a timer for each would cost as much as the rest of this. */
  #timer: ReturnType<typeof setTimeout> | undefined

  /** Calls `look` when a call has waited for `PATIENCE_MS`, and every `PATIENCE_MS` from then on. */
  constructor(look: () => Promise<unknown>) {
    this.#look = look
  }

  async noted<T>(work: () => Promise<T>): Promise<T> {
    const call = work()
    this.#underWay.set(call, performance.now())
    this.#timer ??= this.#wake(PATIENCE_MS)
    try {
      return await call
    } finally {
      this.#underWay.delete(call)
    }
  }

  async ended(): Promise<void> {
    await Promise.allSettled(this.#underWay.keys())
    clearTimeout(this.#timer)
  }

  #wake(ms: number): ReturnType<typeof setTimeout> {
    return setTimeout(() => void this.#check(), ms)
  }

  async #check(): Promise<void> {
    const [since = Number.POSITIVE_INFINITY] = this.#underWay.values()
    const left = since + PATIENCE_MS - performance.now()
    if (left <= 0) await this.#look()
    const isIdle = this.#underWay.size === 0
    this.#timer = isIdle ? undefined : this.#wake(left > 0 ? left : PATIENCE_MS)
  }
}
