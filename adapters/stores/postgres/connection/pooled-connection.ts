/** The connections of a store: each is used by one call at a time, and never again once it broke. */

import type { Sql } from 'postgres'
import { Share } from './long-reads.ts'

/** How long a connection may be idle, in milliseconds. Gateways drop idle connections silently. */
const IDLE_MS = 60_000
/** How long a connection is used at most, in milliseconds. */
const LIFE_MS = 3_600_000

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
  /** One for all its idle times: to set and clear a timer for each would cost more than the rest of this. */
  #idling: ReturnType<typeof setTimeout> | undefined
  #idleSince = 0
  #fail: ((reason: unknown) => void) | undefined
  #retire: (() => void) | undefined
  #isLost = false
  /** The statement that the first call sends before its own. */
  #first: string | undefined

  constructor(sql: Sql, first?: string) {
    this.sql = sql
    this.#first = first
  }

  get isLost(): boolean {
    return this.#isLost
  }

  /** Whether it has been there for so long that another should be made. */
  get isOld(): boolean {
    return performance.now() > this.#oldAt
  }

  /** The result of `work`, unless the connection breaks first. */
  use<T>(work: (pooled: PooledConnection) => Promise<T>): Promise<T> {
    this.#retire = undefined
    return new Promise((resolve, reject) => {
      this.#fail = reject
      const working = this.#first === undefined ? work(this) : this.#begin(work, this.#first)
      working.then(resolve, reject)
    })
  }

  async #begin<T>(work: (pooled: PooledConnection) => Promise<T>, first: string): Promise<T> {
    await this.sql.unsafe(first)
    this.#first = undefined
    return work(this)
  }

  /** Its connection broke: ends the call that uses it. */
  lose(reason: unknown): void {
    this.#isLost = true
    this.#fail?.(reason)
    this.#retire?.()
  }

  /** The call has ended. Calls `retire` if the connection breaks, or is not used for a while. */
  free(retire: () => void): void {
    this.#fail = undefined
    this.#retire = retire
    this.#idleSince = performance.now()
    this.#idling ??= this.#watch(IDLE_MS)
  }

  leave(): void {
    this.#retire = undefined
    clearTimeout(this.#idling)
  }

  #watch(ms: number): ReturnType<typeof setTimeout> {
    return setTimeout(() => {
      const left = this.#idleSince + IDLE_MS - performance.now()
      this.#idling = this.#retire && left > 0 ? this.#watch(left) : undefined
      if (left <= 0) this.#retire?.()
    }, ms)
  }
}

export interface ConnectionMaker {
  readonly most: number
  make(): PooledConnection
  end(pooled: PooledConnection): Promise<void>
}

export class ConnectionPool {
  readonly #maker: ConnectionMaker
  readonly #all = new Set<PooledConnection>()
  readonly #idle: PooledConnection[] = []
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
      const pooled = this.#idle.pop() ?? this.#another()
      try {
        return await pooled.use(work)
      } finally {
        this.#free(pooled)
      }
    })
  }

  /** Ends the calls that use or await a connection with `reason`; the next calls get new connections. */
  lose(reason: unknown): void {
    this.#places.lose(reason)
    for (const pooled of this.#idle.splice(0)) void this.#discard(pooled)
    for (const pooled of this.#all) pooled.lose(reason)
  }

  async end(): Promise<void> {
    await Promise.all([...this.#all].map((pooled) => this.#discard(pooled)))
  }

  #another(): PooledConnection {
    const pooled = this.#maker.make()
    this.#all.add(pooled)
    return pooled
  }

  #free(pooled: PooledConnection): void {
    if (pooled.isLost || pooled.isOld) void this.#discard(pooled)
    else {
      this.#idle.push(pooled)
      pooled.free(() => this.#retire(pooled))
    }
  }

  #retire(pooled: PooledConnection): void {
    this.#idle.splice(this.#idle.indexOf(pooled), 1)
    void this.#discard(pooled)
  }

  #discard(pooled: PooledConnection): Promise<void> {
    this.#all.delete(pooled)
    pooled.leave()
    return this.#maker.end(pooled)
  }
}
