/**
 * The connections of a store: each is used by one call at a time, and never again once it broke.
 *
 * @module
 */

import type { Sql } from 'postgres'

/** How long a line may be idle, in milliseconds. Gateways drop idle connections silently. */
const IDLE_MS = 60_000
/** How long a line is used at most, in milliseconds. */
const LIFE_MS = 3_600_000

/**
 * One connection: a client of the driver that opens no second one, or a share of the app's own client.
 *
 * postgres.js 3.4.9 sends further statements to a connection that waits for an answer, and uses one that broke again.
 * Then a statement that it has to prepare anew confuses the answers of those behind it, and one that was sent while the
 * connection broke waits forever, or gets the result of the next.
 */
export class Line {
  readonly sql: Sql
  readonly #oldAt = performance.now() + LIFE_MS * (0.5 + Math.random() / 2)
  #idling: ReturnType<typeof setTimeout> | undefined
  #fail: ((reason: unknown) => void) | undefined
  #retire: (() => void) | undefined
  #isLost = false
  /** The statement that the first call sends before its own. */
  #first: string | undefined

  constructor(sql: Sql, first?: string) {
    this.sql = sql
    this.#first = first
  }

  /** Whether its connection broke. */
  get isLost(): boolean {
    return this.#isLost
  }

  /** Whether it has been there for so long that another should be made. */
  get isOld(): boolean {
    return performance.now() > this.#oldAt
  }

  /** The result of `work`, unless the connection breaks first. */
  use<T>(work: (line: Line) => Promise<T>): Promise<T> {
    this.take()
    return new Promise((resolve, reject) => {
      this.#fail = reject
      const working = this.#first === undefined ? work(this) : this.#begin(work, this.#first)
      working.then(resolve, reject)
    })
  }

  async #begin<T>(work: (line: Line) => Promise<T>, first: string): Promise<T> {
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

  /** The call has ended. Calls `retire` if the line breaks, or is not used for a while. */
  free(retire: () => void): void {
    this.#fail = undefined
    this.#retire = retire
    this.#idling = setTimeout(retire, IDLE_MS)
  }

  /** It is not idle any more. */
  take(): void {
    clearTimeout(this.#idling)
    this.#retire = undefined
  }
}

/** What makes and ends lines. */
export interface LineMaker {
  readonly most: number
  make(): Line
  end(line: Line): Promise<void>
}

/** The lines of a store. */
export class Lines {
  readonly #maker: LineMaker
  readonly #all = new Set<Line>()
  readonly #idle: Line[] = []
  readonly #waiting = new Set<PromiseWithResolvers<Line>>()

  /** Throws a `TypeError` if the driver finds something wrong with the address. */
  constructor(maker: LineMaker) {
    this.#maker = maker
    const first = this.#another()
    if (first) this.#idle.push(first)
  }

  /** Calls `work` with a line that nothing else uses meanwhile. */
  async use<T>(work: (line: Line) => Promise<T>): Promise<T> {
    const line = this.#idle.pop() ?? this.#another() ?? (await this.#next())
    try {
      return await line.use(work)
    } finally {
      this.#free(line)
    }
  }

  /** Ends the calls that use or await a line with `reason`; the next calls get new lines. */
  lose(reason: unknown): void {
    for (const { reject } of this.#waiting) reject(reason)
    this.#waiting.clear()
    for (const line of this.#idle.splice(0)) void this.#discard(line)
    for (const line of this.#all) line.lose(reason)
  }

  /** Ends all lines. */
  async end(): Promise<void> {
    await Promise.all([...this.#all].map((line) => this.#discard(line)))
  }

  #another(): Line | undefined {
    if (this.#all.size >= this.#maker.most) return undefined
    const line = this.#maker.make()
    this.#all.add(line)
    return line
  }

  #next(): Promise<Line> {
    const waiting = Promise.withResolvers<Line>()
    this.#waiting.add(waiting)
    return waiting.promise
  }

  #free(line: Line): void {
    const isDone = line.isLost || line.isOld
    if (isDone) void this.#discard(line)
    const [first] = this.#waiting
    const next = isDone ? first && this.#another() : line
    if (first && next) {
      this.#waiting.delete(first)
      first.resolve(next)
    } else if (next) {
      this.#idle.push(next)
      next.free(() => this.#retire(next))
    }
  }

  #retire(line: Line): void {
    this.#idle.splice(this.#idle.indexOf(line), 1)
    void this.#discard(line)
  }

  #discard(line: Line): Promise<void> {
    this.#all.delete(line)
    line.take()
    return this.#maker.end(line)
  }
}
