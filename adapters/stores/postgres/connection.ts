/**
 * The connections to the database: their deadlines, and the statements that they run.
 *
 * @module
 */

import { setTimeout as pause } from 'node:timers/promises'
import connectTo, { type Options, type Sql } from 'postgres'
import { type ReadHints, StoreTimeout, StoreUnavailable } from '../../../src/ports/store.ts'
import { within } from '../../../src/ports/within.ts'
import { Calls } from './calls.ts'
import { codeOf, isCollision } from './errors.ts'
import type { Row } from './rows.ts'
import type { Statement } from './sql.ts'

/** Where the database is, and how it is used. */
export interface ConnectionOptions {
  readonly url?: string | undefined
  readonly client?: Sql | undefined
  readonly max: number
  readonly ssl?: Options<Record<string, never>>['ssl'] | undefined
  readonly prepare: boolean
}

/** What a statement returned. */
export interface Result {
  readonly rows: readonly Row[]
  /** The number of rows that it read or wrote. */
  readonly count: number
}

/** The server keeps each prepared statement for as long as a connection lives. */
const MOST_PREPARED = 500

/** How often a statement is sent again after it collided with another one. */
const MOST_ATTEMPTS = 5

/** How long a transaction that collides with others is tried again, in milliseconds. */
const COLLIDING_MS = 10_000
/** The longest pause between two tries, in milliseconds. */
const MOST_PAUSE_MS = 50

/** How long a call may wait for the database before it is asked whether it still answers, in milliseconds. */
const PATIENCE_MS = 2500
/** How long the answer may take. */
const PROBE_MS = 1500

/** The connections of one store. */
export class Connection {
  readonly #options: ConnectionOptions
  /** Replaced when the database has stopped answering: its connections would never end by themselves. */
  #sql: Sql
  readonly #prepared = new Set<string>()
  readonly #calls = new Calls(PATIENCE_MS, () => this.#probe())
  #closing: Promise<void> | undefined

  constructor(options: ConnectionOptions) {
    this.#options = options
    this.#sql = options.client ?? connect(options)
  }

  /** Runs a statement that reads. Rejects with the driver's error, `StoreTimeout`, or the signal's reason. */
  read(statement: Statement, { timeLimitMs, signal }: ReadHints = {}): Promise<Result> {
    if (signal?.aborted) return Promise.reject(signal.reason)
    const reading =
      timeLimitMs === undefined ? this.run(statement) : this.#limited(statement, timeLimitMs)
    return signal ? unlessAborted(reading, signal) : reading
  }

  /** Runs a statement; again if it collided with another one. */
  run(statement: Statement): Promise<Result> {
    return this.#noted(() => this.#attempt(statement, 1))
  }

  #attempt(statement: Statement, attempt: number): Promise<Result> {
    return this.#send(this.#sql, statement).catch((error: unknown) => {
      if (attempt >= MOST_ATTEMPTS || !isCollision(error)) throw error
      return this.#attempt(statement, attempt + 1)
    })
  }

  /**
   * Runs `work` in a transaction, in which each statement sees what has been committed before it. It is rolled back if
   * `work` rejects; if it collided with another one, `work` is called again.
   */
  transaction<T>(work: (run: (statement: Statement) => Promise<Result>) => Promise<T>): Promise<T> {
    return this.#noted(async () => {
      const begun = performance.now()
      for (let tries = 0; ; tries += 1) {
        try {
          return await this.#begin(work)
        } catch (error) {
          if (!isCollision(error) || performance.now() > begun + COLLIDING_MS) throw error
        }
        await pause(Math.random() * Math.min(2 ** tries, MOST_PAUSE_MS))
      }
    })
  }

  #begin<T>(work: (run: (statement: Statement) => Promise<Result>) => Promise<T>): Promise<T> {
    return this.#sql.begin('isolation level read committed', (transaction) =>
      work((statement) => this.#send(transaction, statement)),
    ) as Promise<T>
  }

  /** Runs SQL without parameters, which may be several statements: they are one transaction. */
  exec(sql: string): Promise<void> {
    return this.#noted(async () => {
      await this.#sql.unsafe(sql)
    })
  }

  /** Waits for what is under way and ends the connections, except a client of the app's own. */
  close(): Promise<void> {
    this.#closing ??= this.#end()
    return this.#closing
  }

  async #end(): Promise<void> {
    await this.#calls.ended()
    if (this.#sql !== this.#options.client) await this.#sql.end({ timeout: 5 })
  }

  #noted<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closing) return Promise.reject(new StoreUnavailable('the store has been closed'))
    return this.#calls.noted(work)
  }

  /** Looks whether the database answers on a new connection. If not, every call under way ends. */
  async #probe(): Promise<void> {
    const { url, client } = this.#options
    // A client of the app's own has deadlines of its own.
    if (!url || client) return
    const probe = connect({ ...this.#options, max: 1 })
    try {
      await within(
        PROBE_MS,
        () => probe.unsafe('SELECT 1'),
        () => new Error('the database does not answer'),
      )
    } catch (error) {
      if (isAnswer(error)) return
      const sql = this.#sql
      this.#sql = connect(this.#options)
      this.#calls.end(new StoreUnavailable('the database cannot be used', { cause: error }))
      await sql.end({ timeout: 0 })
    } finally {
      await probe.end({ timeout: 0 })
    }
  }

  #send(sql: Sql | TransactionSql, { sql: text, values }: Statement): Promise<Result> {
    const prepare = this.#options.prepare && this.#mayPrepare(text)
    const query = sql.unsafe(text, [...values], { prepare })
    // A client of the app's own has parsers of its own.
    const sent = this.#options.client ? query.raw() : query.values()
    return sent.then((rows) => ({ rows: rows as unknown as readonly Row[], count: rows.count }))
  }

  #mayPrepare(text: string): boolean {
    if (this.#prepared.has(text)) return true
    if (this.#prepared.size >= MOST_PREPARED) return false
    this.#prepared.add(text)
    return true
  }

  /** A read that the server ends. The time that it waits for a connection counts too. */
  #limited(statement: Statement, timeLimitMs: number): Promise<Result> {
    const limit = Math.max(1, Math.ceil(timeLimitMs))
    return within(
      limit,
      () =>
        this.#noted(() =>
          this.#sql.begin('read only', async (transaction) => {
            const limiting = transaction.unsafe(`SET LOCAL statement_timeout = ${limit}`)
            const [, result] = await Promise.all([limiting, this.#send(transaction, statement)])
            return result
          }),
        ) as Promise<Result>,
      () => new StoreTimeout('the read took too long'),
    )
  }
}

/** Whether an error is the server's: then it is there, although it may have no room for another connection. */
function isAnswer(error: unknown): boolean {
  const code = codeOf(error) ?? ''
  return /^\d/.test(code) && !code.startsWith('57P')
}

type TransactionSql = Parameters<Parameters<Sql['begin']>[1]>[0]

/** The types that the driver would parse: json, jsonb, numbers, booleans, dates and bytes. */
const TYPES_AS_TEXT = [114, 3802, 21, 23, 26, 700, 701, 16, 1082, 1114, 1184, 17]

function connect({ url, max, ssl, prepare }: ConnectionOptions): Sql {
  if (!url) throw new TypeError("postgresStore: 'url' or 'client' is needed")
  const isSeveral = /^[^:]+:\/\/[^/?]*,/.test(url)
  try {
    return connectTo(url, {
      max,
      prepare,
      ...(ssl !== undefined && { ssl }),
      ...(isSeveral &&
        !url.includes('target_session_attrs') && { target_session_attrs: 'read-write' }),
      connect_timeout: 4,
      backoff: () => 0.1,
      // Gateways drop idle connections silently.
      idle_timeout: 60,
      fetch_types: false,
      types: { text: { to: 25, from: TYPES_AS_TEXT, serialize: String, parse: (x: string) => x } },
      onnotice: () => {},
      connection: { application_name: 'fieldgate', TimeZone: 'UTC', DateStyle: 'ISO' },
    })
  } catch (error) {
    throw new TypeError(`postgresStore: ${(error as Error).message}`, { cause: error })
  }
}

async function unlessAborted<T>(reading: Promise<T>, signal: AbortSignal): Promise<T> {
  let abort: (() => void) | undefined
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
  })
  try {
    return await Promise.race([reading, aborted])
  } finally {
    if (abort) signal.removeEventListener('abort', abort)
  }
}
