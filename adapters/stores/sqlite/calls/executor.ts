/**
 * The SQLite store over a database that is asked by calls: D1, libSQL, or the storage of a Durable Object.
 *
 * Every write is one statement or one batch, which the database runs atomically. There are no regular expressions.
 *
 * @module
 */

import { withTimeout } from '../../../../src/ports/promises/with-timeout.ts'
import type { ReadHints } from '../../../../src/ports/store/records.ts'
import type { CollectionSchema, Store } from '../../../../src/ports/store/store.ts'
import { StoreTimeout, StoreUnavailable } from '../../../../src/ports/store/store-errors.ts'
import { portError } from '../layout/errors.ts'
import {
  type Migration,
  migrate,
  type SqliteResult,
  type SqliteStatement,
  type Statement,
} from '../layout/sql.ts'
import { dropAll, prepareAll } from '../store/prepare.ts'
import { storeOver, watchWrites } from '../store/store.ts'

export type { SqliteResult, SqliteStatement } from '../layout/sql.ts'

/** A database that speaks SQLite's SQL. Its functions throw what its driver throws, with SQLite's message. */
export interface Executor {
  /** The store's name. */
  readonly name: string
  /** How people call the database, for warnings. */
  readonly title: string
  /** The most bytes that the SQL of a statement may have, if there is a limit. */
  readonly maxBytes?: number
  /** The most fields of a collection that may be searched, if there is a limit. */
  readonly maxSearched?: number
  /** Runs a statement, atomically; resolves when what it changed is on disk. */
  run(statement: SqliteStatement): Promise<SqliteResult>
  /** Runs statements in one transaction: either all take effect or none. */
  batch(statements: readonly SqliteStatement[]): Promise<readonly SqliteResult[]>
  /** Closes the connection, when the app has closed and no statement is under way. */
  close?(): void
}

/** A store in a database that speaks the SQL of SQLite 3.45 or newer: you write how it runs statements. */
export function executorStore(executor: Executor): Store {
  const { name, title, maxBytes, maxSearched } = executor
  const underWay = new Set<Promise<unknown>>()
  let closed = false

  async function tracked<T>(work: () => Promise<T>): Promise<T> {
    if (closed) throw new StoreUnavailable('the store has been closed')
    const working = work()
    underWay.add(working)
    try {
      return await working
    } finally {
      underWay.delete(working)
    }
  }

  async function run<T>(schema: CollectionSchema | undefined, work: () => Promise<T>): Promise<T> {
    try {
      return await tracked(work)
    } catch (error) {
      throw portError(error, schema)
    }
  }

  const rowsOf = async (statement: Statement) => (await executor.run(statement)).rows

  const migrated = <T>(migration: Migration<T>) =>
    run(undefined, () =>
      migrate(migration, async (statements) => {
        return (await executor.batch(statements)).map(({ rows }) => rows)
      }),
    )

  return storeOver({
    name,
    title,
    maxSearched,
    rawRegex: false,
    runnerOf(schema) {
      const read = (statement: Statement, { timeLimitMs }: ReadHints = {}) =>
        run(schema, async () => (await inTime(() => executor.run(statement), timeLimitMs)).rows)
      return {
        ...(maxBytes !== undefined && { maxBytes }),
        read,
        count: async (statement, _, hints) => Number((await read(statement, hints))[0]?.count),
        write: (statement) => run(schema, () => executor.run(statement)),
      }
    },
    read: (statement) => run(undefined, () => rowsOf(statement)),
    write: (statements) => tracked(() => executor.batch(statements)),
    // The service decides which of SQLite's functions it allows.
    copying: { watch: () => watchWrites(rowsOf).catch(() => undefined) },
    prepare: (schemas) => migrated(prepareAll(schemas, false)),
    dropLeftOvers: (schemas) => migrated(dropAll(schemas, false)),
    async close() {
      if (closed) return
      closed = true
      await Promise.allSettled(underWay)
      executor.close?.()
    },
  })
}

/** A query that runs on is not interrupted: D1's own limit is half a minute. */
async function inTime<T>(ask: () => Promise<T>, limitMs: number | undefined): Promise<T> {
  if (limitMs === undefined) return ask()
  const deadline = Date.now() + limitMs
  const late = () => new StoreTimeout(`a read took longer than ${limitMs} ms`)
  const answer = await withTimeout(limitMs, ask, late)
  // The query may have kept the timer from firing.
  if (Date.now() > deadline) throw late()
  return answer
}
