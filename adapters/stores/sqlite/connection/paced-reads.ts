/**
 * Where reads run: on this thread while they are short, else on a thread of the pool.
 *
 * The cost of a read is not guessed. It starts here and is interrupted when its time is up; from then on, the same
 * statement goes to the pool until it was quick there. A read that cannot be interrupted goes there if the collection
 * is large.
 */

import type { MaybePromise } from '../../../../src/ports/promises/maybe-promise.ts'
import type { ReadHints } from '../../../../src/ports/store/records.ts'
import { isBusy, throwPortError } from '../layout/errors.ts'
import { identifier, type Row, type Statement } from '../layout/sql.ts'
import { type Connection, retryWhileBusy } from './connection.ts'
import { addClock, checkPatterns, tookTooLong } from './functions.ts'
import { NoThreads, Pool } from './pool.ts'

/** How much may hold up the event loop. */
export interface Pace {
  /** How long a read that can be interrupted may run here, in milliseconds. */
  readonly budgetMs: number
  /** The largest collection, in rows, that a read which cannot be interrupted may read here. */
  readonly rows: number
  readonly threads: number
}

/**
 * A read takes some 0.1 ms if an index serves it, and SQLite counts this many rows in 5 ms. More threads would only
 * wait for the disk, and one processor is left to the event loop.
 */
export const PACE: Pace = {
  budgetMs: 5,
  rows: 200_000,
  threads: Math.max(1, Math.min(4, navigator.hardwareConcurrency - 1)),
}

/** A statement that took less than this on a thread, in milliseconds, starts here again. */
const QUICK_MS = 2

const MAX_SLOW = 1000

/** The reads of one connection's database. Their errors are the port's. */
export class Reads {
  readonly #connection: Connection
  readonly #pace: Pace
  /** When the read that runs here is interrupted. */
  #end = Number.POSITIVE_INFINITY
  readonly #slow = new Set<string>()
  /** Undefined if everything is read here: a database in memory has no second connection. */
  #pool: Pool | undefined

  constructor(connection: Connection, pace: Pace) {
    this.#connection = connection
    this.#pace = pace
    const { file } = connection
    if (file !== undefined) this.#pool = new Pool(file, connection, pace.threads)
    addClock(connection.db, () => performance.now() > this.#end)
  }

  /**
   * The rows of a statement. The statement contains `DEADLINE`, or is always quick; otherwise `over` names the table
   * that it may scan before it checks the time. Rejects with `StoreTimeout`, with `StoreUnavailable` if its thread or the
   * store ends, and with the signal's reason. Rows that are found in a moment are returned at once; what fails at once
   * is thrown.
   */
  rows(statement: Statement, hints: ReadHints = {}, over?: string): MaybePromise<readonly Row[]> {
    const end = performance.now() + (hints.timeLimitMs ?? Number.POSITIVE_INFINITY)
    if (over === undefined && !statement.patterns) {
      try {
        const rows = this.#now(statement, end)
        if (rows) return rows
      } catch (error) {
        if (!isBusy(error)) return throwPortError(error)
      }
    }
    return this.#later(statement, end, hints, over).catch(throwPortError)
  }

  /** The rows of a statement that is always quick: at once, unless another connection has the lock. */
  quick(statement: Statement): MaybePromise<readonly Row[]> {
    try {
      return this.#connection.rows(statement)
    } catch (error) {
      if (!isBusy(error)) return throwPortError(error)
      return retryWhileBusy(() => this.#connection.rows(statement)).catch(throwPortError)
    }
  }

  planOf(sql: string): string[] {
    const rows = this.#connection.rows({ sql: `EXPLAIN QUERY PLAN ${sql}`, values: [] })
    return rows.map(({ detail }) => String(detail))
  }

  /** The rows, unless a thread has to read them. Throws if another connection has the lock. */
  #now(statement: Statement, end: number): readonly Row[] | undefined {
    const pool = this.#pool
    if (pool && (this.#pace.budgetMs === 0 || this.#slow.has(statement.sql))) return undefined
    const limit = pool ? Math.min(end, performance.now() + this.#pace.budgetMs) : end
    let rows: readonly Row[] | undefined
    this.#end = limit
    try {
      rows = this.#connection.rows(statement)
    } catch (error) {
      if (performance.now() <= limit) throw error
    } finally {
      this.#end = Number.POSITIVE_INFINITY
    }
    if (performance.now() <= limit) return rows
    // It was interrupted, or does not check the time: it can't, or its records are large.
    if (limit === end) throw tookTooLong()
    if (this.#slow.size >= MAX_SLOW) this.#slow.clear()
    this.#slow.add(statement.sql)
    return rows
  }

  async #later(
    statement: Statement,
    end: number,
    { signal }: ReadHints,
    over: string | undefined,
  ): Promise<readonly Row[]> {
    await checkPatterns(statement)
    const pool = this.#pool
    const isLarge = pool && over !== undefined && (await this.#isLarge(over))
    const here = () => retryWhileBusy(() => this.#now(statement, end))
    const rows = isLarge ? undefined : await here()
    if (rows || !pool) return rows ?? []
    try {
      signal?.throwIfAborted()
      const found = await pool.run(statement, end, signal)
      if (found.tookMs < QUICK_MS) this.#slow.delete(statement.sql)
      return found.rows
    } catch (error) {
      this.#stayHere(error)
      return (await here()) ?? []
    }
  }

  async close(): Promise<void> {
    await this.#pool?.close()
  }

  async #isLarge(table: string): Promise<boolean> {
    const last = `SELECT max(rowid) AS last FROM ${identifier(table)}`
    const [row] = await this.quick({ sql: last, values: [] })
    return Number(row?.last) > this.#pace.rows
  }

  /** Reads everything here from now on, if `error` says that there are no threads; any other error is thrown. */
  #stayHere(error: unknown): void {
    if (!(error instanceof NoThreads)) throw error
    if (!this.#pool) return
    this.#pool = undefined
    const { message, cause } = error
    const why = cause instanceof Error ? cause.message : String(cause)
    process.emitWarning(`sqliteStore: ${message}, so slow reads hold up all requests: ${why}`)
  }
}
