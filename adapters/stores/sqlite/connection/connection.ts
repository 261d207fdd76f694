/** One connection to a database file, with its prepared statements. */

import { statSync } from 'node:fs'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { StoreUnavailable } from '../../../../src/ports/store/store-errors.ts'
import { isBusy, isUnusable } from '../layout/errors.ts'
import type { Row, SqliteResult, SqlValue, Statement } from '../layout/sql.ts'

const MAX_STATEMENTS = 256
/** A statement with a longer value, in characters, is not kept: its values are, natively, until it is used again. */
const MAX_VALUE = 50_000

/** What a write has done in its transaction, or why it has done nothing. */
export type Outcome = { readonly written: readonly SqliteResult[] } | { readonly error: unknown }

export class Connection {
  readonly db: DatabaseSync
  #isSetUp = false
  #isClosed = false
  /** The file and its number on its disk, once it is set up; undefined in memory. */
  #opened: { readonly file: string; readonly ino: number } | undefined
  /** By SQL, the least recently used first. */
  readonly #statements = new Map<string, StatementSync>()

  /** A read-only connection, or one that does not set it up, leaves the file as it is, and caches few pages. */
  constructor(
    path: string,
    { readOnly = false, setsUp = !readOnly }: { readOnly?: boolean; setsUp?: boolean } = {},
  ) {
    const { DatabaseSync: Database } = sqlite()
    this.db = opened(() => new Database(path, { readOnly }), path)
    takesNames ??= !takesNumbers(this.db)
    // Waiting inside SQLite would block the event loop: `retryWhileBusy` waits instead.
    this.db.exec('PRAGMA busy_timeout = 0')
    if (!setsUp) {
      this.db.exec('PRAGMA cache_size = -16384')
      this.#isSetUp = true
      return
    }
    try {
      opened(() => this.#setUp(), path)
    } catch (error) {
      if (!isBusy((error as Error).cause)) throw error
    }
  }

  /** Settles when the file is set up, which another process may be doing at the moment. */
  async ready(): Promise<void> {
    if (!this.#isSetUp) await retryWhileBusy(() => this.#setUp())
  }

  /** The path of the database's file; undefined if it has none that a second connection could open. */
  get file(): string | undefined {
    const [main] = this.rows({ sql: 'PRAGMA database_list', values: [] })
    return main?.file ? String(main.file) : undefined
  }

  #setUp(): void {
    const [text] = this.rows({ sql: 'PRAGMA encoding', values: [] })
    // The store relies on UTF-8, in which the order of bytes is that of code points.
    if (text?.encoding !== 'UTF-8') {
      throw new TypeError(
        'its text is in UTF-16. Copy it to a new file: sqlite3 old.db .dump | sqlite3 new.db',
      )
    }
    // With WAL, readers and the writer do not wait for each other. Switching a new file over takes an exclusive lock.
    this.db.exec('PRAGMA journal_mode = WAL')
    // FULL: an acknowledged write survives a loss of power. The cache is filled as pages are read.
    this.db.exec('PRAGMA synchronous = FULL; PRAGMA cache_size = -65536')
    const { file } = this
    try {
      this.#opened = file === undefined ? file : { file, ino: statSync(file).ino }
    } catch {
      // Deno may not look at where a link leads.
    }
    this.#isSetUp = true
  }

  rows({ sql, values, inLists = false }: Statement): Row[] {
    const prepared = this.#prepared(sql, values, inLists)
    return takesNames ? prepared.all(named(values)) : prepared.all(...values)
  }

  write(statement: Statement): SqliteResult {
    if (statement.returns || statement.sql.endsWith('RETURNING doc')) {
      const rows = this.rows(statement)
      return { rows, changes: rows.length }
    }
    const { sql, values } = statement
    const prepared = this.#prepared(sql, values)
    // Node 26 throws, once it has written, where the last rowid is beyond 2^53. Those of pages of search indexes are.
    prepared.setReadBigInts(true)
    const { changes } = takesNames ? prepared.run(named(values)) : prepared.run(...values)
    return { rows: [], changes: Number(changes) }
  }

  /**
   * Runs writes in one transaction. One whose statements fail has changed nothing, and the others happen; but if the file
   * fails, the transaction ends, and this throws. So it does once there is another file, or none: with WAL, SQLite goes on
   * writing to the one that it has opened, which is gone when the process ends.
   */
  writeAll(writes: readonly { readonly statements: readonly Statement[] }[]): Outcome[] {
    if (this.#opened) {
      const { file, ino } = this.#opened
      if (statSync(file, { throwIfNoEntry: false })?.ino !== ino) {
        throw new StoreUnavailable(
          `the database cannot be used: '${file}' was replaced or removed while it was open. Start the app again`,
        )
      }
    }
    return this.transaction(() => writes.map(({ statements }) => this.#outcomeOf(statements)))
  }

  #outcomeOf(statements: readonly Statement[]): Outcome {
    try {
      const [only] = statements
      // A statement is one by itself.
      if (only && statements.length === 1) return { written: [this.write(only)] }
      return { written: this.asOne(() => statements.map((one) => this.write(one))) }
    } catch (error) {
      if (isUnusable(error)) throw error
      return { error }
    }
  }

  /** Runs `work` in its own transaction: all of it happens, or nothing. */
  transaction<T>(work: () => T): T {
    return this.#between('BEGIN IMMEDIATE', work, 'COMMIT', 'ROLLBACK')
  }

  /** The result of `work`, inside a transaction; if it throws, none of what it did takes effect. */
  asOne<T>(work: () => T): T {
    return this.#between('SAVEPOINT one', work, 'RELEASE one', 'ROLLBACK TO one; RELEASE one')
  }

  #between<T>(begin: string, work: () => T, end: string, undo: string): T {
    this.db.exec(begin)
    try {
      const result = work()
      this.db.exec(end)
      return result
    } catch (error) {
      // Some failures, e.g. a full disk, have ended the transaction already.
      try {
        this.db.exec(undo)
      } catch {}
      throw error
    }
  }

  close(): void {
    this.#isClosed = true
    this.#statements.clear()
    this.db.close()
  }

  #prepared(sql: string, values: readonly SqlValue[], inLists = false): StatementSync {
    if (this.#isClosed) throw new StoreUnavailable('the store has been closed')
    const known = this.#statements.get(sql)
    const statement = known ?? this.db.prepare(sql)
    // Node has it since 22.16. No SQL is used both ways.
    if (inLists && !known) statement.setReturnArrays?.(true)
    if (known) this.#statements.delete(sql)
    for (const value of values) {
      if (typeof value === 'string' && value.length > MAX_VALUE) return statement
    }
    this.#statements.set(sql, statement)
    if (this.#statements.size > MAX_STATEMENTS) {
      const [oldest = ''] = this.#statements.keys()
      this.#statements.delete(oldest)
    }
    return statement
  }
}

/** Whether values of numbered parameters are taken by their names alone, as before Node 22.20 and 24.8. */
let takesNames: boolean | undefined

function takesNumbers(db: DatabaseSync): boolean {
  try {
    return db.prepare('SELECT ?1').get(1) !== undefined
  } catch {
    return false
  }
}

/** `values` by the names of their parameters, `?1` and so on. */
function named(values: Statement['values']): Record<string, Statement['values'][number]> {
  return Object.fromEntries(values.map((value, at) => [`?${at + 1}`, value]))
}

/** The built-in module, without Node's warning that it is experimental; other warnings pass. */
function sqlite(): typeof import('node:sqlite') {
  const { emitWarning } = process
  const others = (...warning: Parameters<typeof emitWarning>): void => {
    if (!String(warning[0]).startsWith('SQLite is an experimental feature')) {
      emitWarning.apply(process, warning)
    }
  }
  process.emitWarning = others as typeof emitWarning
  try {
    const found: typeof import('node:sqlite') | undefined = process.getBuiltinModule('node:sqlite')
    if (!found)
      throw new TypeError('sqliteStore: this runtime has no node:sqlite; Node has it since 22.13')
    return found
  } finally {
    process.emitWarning = emitWarning
  }
}

/** What follows from SQLite's messages. */
const HINTS = [
  ['readonly', '. SQLite keeps a file beside it, so its folder must be writable too'],
  ['unable to open', '. Its folder must exist and be writable: SQLite keeps files beside it'],
  ['Illegal constructor', '. On Workers take d1Store or durableStore'],
] as const

/** The result of `open`; an error names the file. */
function opened<T>(open: () => T, path: string): T {
  try {
    return open()
  } catch (error) {
    const why = (error as Error)?.message ?? String(error)
    const [, hint = ''] = HINTS.find(([sign]) => why.includes(sign)) ?? []
    throw new Error(`sqliteStore: '${path}' cannot be opened: ${why}${hint}`, { cause: error })
  }
}

/** How long to wait for another connection's transaction, in milliseconds. */
export const PATIENCE_MS = 10_000

const FIRST_MS = 1
const LAST_MS = 25

/** How long to wait before the next try, by the number of tries so far. */
export function pauseAfter(looks: number): number {
  return Math.min(FIRST_MS * 2 ** looks, LAST_MS)
}

/**
 * Does `work`, and repeats it while another connection has the lock. Throws its errors; in the end, that of the lock
 * too.
 */
export async function retryWhileBusy<T>(work: () => T): Promise<T> {
  const deadline = performance.now() + PATIENCE_MS
  for (let looks = 0; ; looks += 1) {
    try {
      return work()
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw error
    }
    await pause(pauseAfter(looks))
  }
}
