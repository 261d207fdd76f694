/** The connections to the database: their deadlines, and the statements that they run. */

import { setTimeout as pause } from 'node:timers/promises'
import type { Sql } from 'postgres'
import { withTimeout } from '../../../../src/ports/promises/with-timeout.ts'
import type { ReadHints } from '../../../../src/ports/store/records.ts'
import { StoreTimeout, StoreUnavailable } from '../../../../src/ports/store/store-errors.ts'
import { unlessAborted } from '../../unless-aborted.ts'
import {
  brokenConnection,
  codeOf,
  isCollision,
  isConnectionLost,
  NO_ROOM,
  NO_WRITES,
} from '../layout/errors.ts'
import type { Result, Row, Run } from '../layout/rows.ts'
import type { Endable, Statement } from '../layout/sql.ts'
import { type ConnectionOptions, connectionMaker } from './driver.ts'
import {
  Calls,
  ConnectionPool,
  PATIENCE_MS,
  type PooledConnection,
  processOf,
  Share,
} from './pooled-connection.ts'
import { forgottenOf } from './probe.ts'

/** The server keeps each prepared statement for as long as a connection lives. */
const MAX_PREPARED = 500

/** Connections that lists, counts and searches leave to reads by id, sessions and writes. */
const KEPT_FREE = 3
/** The longest that one of them may take, in milliseconds, unless the router says otherwise. */
const MAX_READ_MS = 30_000

/** Ends a statement, if it is still the one that its connection runs. */
const END = `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
  WHERE pid = $1::text::int AND state = 'active' AND left(query, 500) = left($2::text, 500)`

/** How long a statement or a transaction that collides with others is tried again, in milliseconds. */
const COLLIDING_MS = 10_000
const MAX_PAUSE_MS = 50

/**
 * The server ends a transaction whose process sends nothing for so long: one that was stopped, or whose machine or network is
 * gone. Others wait for the records that it has locked, and readers of the log for its end.
 */
const LEFT = "SET LOCAL idle_in_transaction_session_timeout = '10s'"

export class Connection {
  protected readonly options: ConnectionOptions
  readonly #pool: ConnectionPool
  readonly #long: Share
  readonly #prepared = new Set<string>()
  readonly #calls = new Calls(() => this.#probe())
  #closing: Promise<void> | undefined

  constructor(options: ConnectionOptions) {
    this.options = options
    const maker = connectionMaker(options)
    this.#pool = new ConnectionPool(maker)
    this.#long = new Share(Math.max(1, maker.most - KEPT_FREE))
  }

  /**
   * Runs a statement that reads. Rejects with the driver's error, `StoreTimeout`, or the signal's reason; the server ends
   * it then. Long ones leave some connections to the others.
   */
  read(statement: Statement, { timeLimitMs, signal }: ReadHints = {}): Promise<Result> {
    if (signal?.aborted) return Promise.reject(signal.reason)
    const isLimited = timeLimitMs !== undefined
    // A read by id, as a rule: nothing ends it but the database.
    if (!statement.isLong && !isLimited && !signal) return this.run(statement)
    let isOver = false
    let cancel = () => {}
    const sent = (end: () => void) => {
      if (isOver) throw tooLong()
      cancel = end
    }
    const run = async () => {
      // Its time was over before it had a place.
      if (isOver) throw tooLong()
      const endable = { ...statement, sent }
      return isLimited ? this.#limited(endable, timeLimitMs) : this.run(endable)
    }
    // It keeps its place until the server has ended it: what ends it needs a connection too.
    const reading = statement.isLong ? this.#long.use(run, signal) : run()
    const end = () => {
      isOver = true
      cancel()
    }
    const inTime = () => withTimeout(MAX_READ_MS, () => reading, tooLong, end)
    return unlessAborted(statement.isLong && !isLimited ? inTime() : reading, signal, end)
  }

  /** Runs a statement; again if it collided with another one. */
  run(statement: Endable): Promise<Result> {
    return this.#retried(() => this.#pool.use((pooled) => this.#send(pooled, statement)))
  }

  async rows(sql: string, ...values: string[]): Promise<readonly Row[]> {
    return (await this.run({ sql, values })).rows
  }

  /**
   * Runs `work` in a transaction, in which each statement sees what has been committed before it. It is rolled back if
   * `work` rejects; if it collided with another one, `work` is called again.
   */
  transaction<T>(work: Work<T>): Promise<T> {
    return this.#transaction('isolation level read committed', LEFT, work)
  }

  #transaction<T>(how: string, setting: string, work: Work<T>): Promise<T> {
    return this.#retried((isAgain) =>
      this.#pool.use(async (pooled) => {
        const result = await pooled.sql.begin(how, async (transaction) => {
          const run: Run = (statement) => this.#send(pooled, statement, transaction)
          // Sent with the first statement, which fails if it does; not for the session, which a pooler may share.
          run({ sql: setting, values: [] }).catch(() => {})
          try {
            return await work(run, isAgain)
          } finally {
            // After this, the driver sends COMMIT or ROLLBACK. Where the connection is gone, version 3.4.9 writes to `null`
            // in a later turn, which ends the process (porsager/postgres issues 1066 and 1154). So this never ends.
            if (pooled.isLost) await new Promise(() => {})
          }
        })
        return result as T
      }),
    )
  }

  /** The result of `once`, which is called again for a while if it collided with others. */
  #retried<T>(once: (isAgain: boolean) => Promise<T>): Promise<T> {
    return this.#noted(async () => {
      const begun = performance.now()
      for (let tries = 0; ; tries += 1) {
        try {
          return await once(tries > 0)
        } catch (error) {
          if (performance.now() >= begun + patienceFor(error)) throw error
        }
        await pause(Math.random() * Math.min(2 ** tries, MAX_PAUSE_MS))
      }
    })
  }

  /** Runs SQL without parameters, which may be several statements: they are one transaction. */
  exec(sql: string): Promise<void> {
    return this.#noted(async () => {
      await this.#pool.use(async ({ sql: client }) => {
        await client.unsafe(sql)
      })
    })
  }

  /** Waits for what is under way and ends the connections, except a client of the app's own. */
  close(): Promise<void> {
    this.#closing ??= this.#calls.ended().then(() => this.#pool.end())
    return this.#closing
  }

  #noted<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closing) return Promise.reject(new StoreUnavailable('the store has been closed'))
    return this.#calls.noted(work)
  }

  /**
   * Looks on a new connection whether the database answers. If not, every call under way ends; if so, those on connections
   * that were forgotten.
   */
  async #probe(): Promise<void> {
    const { url, client } = this.options
    // A client of the app's own has deadlines of its own.
    if (!url || client) return
    try {
      const forgotten = await forgottenOf(this.options, this.#pool.usedFor(PATIENCE_MS))
      for (const pooled of forgotten) pooled.lose(brokenConnection())
    } catch (error) {
      // The server's: it is there, although it may have no room for another connection.
      const code = codeOf(error) ?? ''
      if (/^\d/.test(code) && !code.startsWith('57P')) return
      const reason = new StoreUnavailable('the database cannot be used', { cause: error })
      // None would ever end by itself.
      this.#long.lose(reason)
      this.#pool.lose(reason)
    }
  }

  async #send(
    pooled: PooledConnection,
    { sql, values, isLong = false, sent }: Endable,
    on?: TransactionSql,
  ): Promise<Result> {
    // The driver would send it on the next connection, and there it would be no part of the transaction.
    if (pooled.isLost) throw brokenConnection()
    // Other statements without values are sent once: they prepare tables, or set something.
    const isAgain = values.length > 0 || isLong
    const prepare = this.options.prepare && isAgain && this.#mayPrepare(sql)
    // Without values, the driver would choose the protocol that can't prepare.
    const options = { prepare, ...(prepare && { simple: false }) }
    const query = (on ?? pooled.sql).unsafe(sql, [...values], options)
    sent?.(() => {
      // The driver's own way (3.4.9) fails for half of all connections, with a rejection that ends the process.
      const pid = processOf(query)
      if (pid !== undefined) this.run({ sql: END, values: [String(pid), sql] }).catch(() => {})
    })
    try {
      // A client of the app's own has parsers of its own, so the bytes are read here.
      const { client } = this.options
      const rows = await (client ? query.raw() : query.values())
      // A statement that was sent as the connection broke gets the greeting of the next one as its result.
      if (rows.command === null) throw brokenConnection()
      const textOf = (value: Buffer | null) => value?.toString() ?? null
      const texts = client ? (rows as Buffer[][]).map((row) => row.map(textOf)) : rows
      return { rows: texts as unknown as readonly Row[], count: rows.count }
    } catch (error) {
      // At once: the rest of a transaction must not go to the next connection.
      if (isConnectionLost(error) || isStandby(error, this.options)) pooled.lose(error)
      throw error
    }
  }

  #mayPrepare(text: string): boolean {
    if (this.#prepared.has(text)) return true
    if (this.#prepared.size >= MAX_PREPARED) return false
    this.#prepared.add(text)
    return true
  }

  /** A read that the server ends. The time that it waits for a connection counts too. */
  #limited(statement: Endable, timeLimitMs: number): Promise<Result> {
    const limit = Math.max(1, Math.ceil(timeLimitMs))
    const setting = `SET LOCAL statement_timeout = ${limit}`
    // A serializable one that the database makes deferrable waits for the transactions of others.
    const how = 'isolation level read committed read only'
    const read = () => this.#transaction(how, setting, (run) => run(statement))
    return withTimeout(limit, read, tooLong)
  }
}

/** For a call's own connection, and one that ends its statement. */
const BRIEF = 2

/** Connections for each call: on Workers a socket belongs to the request that opened it. Requests share nothing. */
export class BriefConnections extends Connection {
  override read(statement: Statement, hints?: ReadHints): Promise<Result> {
    return this.#brief((own) => own.read(statement, hints))
  }

  override run(statement: Endable): Promise<Result> {
    return this.#brief((own) => own.run(statement))
  }

  override transaction<T>(work: Work<T>): Promise<T> {
    return this.#brief((own) => own.transaction(work))
  }

  override exec(sql: string): Promise<void> {
    return this.#brief((own) => own.exec(sql))
  }

  async #brief<T>(call: (own: Connection) => Promise<T>): Promise<T> {
    // A statement that is used once need not be prepared.
    const own = new Connection({ ...this.options, max: BRIEF, prepare: false })
    try {
      return await call(own)
    } finally {
      // The request need not wait for the farewell.
      own.close().catch(() => {})
    }
  }
}

/** How long a call that ended so is tried again, in milliseconds. */
function patienceFor(error: unknown): number {
  if (codeOf(error) === NO_ROOM) return PATIENCE_MS
  return isCollision(error) ? COLLIDING_MS : 0
}

/** Whether a connection of our own leads to a standby: its address may lead to the new primary by now. */
function isStandby(error: unknown, { client }: ConnectionOptions): boolean {
  return !client && codeOf(error) === NO_WRITES
}

function tooLong(): StoreTimeout {
  return new StoreTimeout('the read took too long')
}

export interface Place {
  readonly connection: Connection
  /** The database's schema. */
  readonly space: string
}

/** What happens in a transaction, whose statements `run` sends; `isAgain`: it collided with another one before. */
export type Work<T> = (run: Run, isAgain: boolean) => Promise<T>
type TransactionSql = Parameters<Parameters<Sql['begin']>[1]>[0]
