/**
 * A file of DuckDB, or a database in memory. Only one process can use a file, and in it one transaction follows another.
 *
 * @module
 */

import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { type ReadHints, StoreTimeout, StoreUnavailable } from 'fieldgate/ports'

type Rows = readonly (readonly unknown[])[]

/** Runs a statement with the values of `$1`, `$2` and so on. */
export type Run = (sql: string, ...values: string[]) => Promise<Rows>

/** A database that is open. */
export interface Database {
  /** Runs `work` in a transaction, which is taken back if `work` rejects. */
  transaction<Result>(work: (run: Run) => Promise<Result>): Promise<Result>
  read(sql: string, values: string[], hints?: ReadHints): Promise<Rows>
  /** Waits for what is under way. */
  close(): Promise<void>
}

/** Opens the file at `path`; `:memory:` is gone with the process. */
export async function openDatabase(path: string): Promise<Database> {
  const instance = await DuckDBInstance.create(path)
  const writer = await instance.connect()
  const run: Run = (sql, ...values) => rowsOf(writer, sql, values)
  const reads = new Set<Promise<unknown>>()
  let lastWrite: Promise<unknown> = Promise.resolve()
  let isOpen = true

  function refuseClosed(): void {
    if (!isOpen) throw new StoreUnavailable('the store has been closed')
  }

  return {
    async transaction(work) {
      refuseClosed()
      const turn = lastWrite.then(() => inTransaction(run, work))
      lastWrite = turn.catch(() => {})
      return turn
    },
    async read(sql, values, { signal, timeLimitMs } = {}) {
      refuseClosed()
      signal?.throwIfAborted()
      const reading = instance.connect().then((one) => inTime(one, sql, values, timeLimitMs))
      const ended = reading.catch(() => {}).finally(() => reads.delete(ended))
      reads.add(ended)
      return reading
    },
    async close() {
      if (!isOpen) return
      isOpen = false
      await Promise.all([lastWrite, ...reads])
      writer.closeSync()
      instance.closeSync()
    },
  }
}

async function inTransaction<Result>(run: Run, work: (run: Run) => Promise<Result>) {
  await run('BEGIN')
  try {
    const result = await work(run)
    await run('COMMIT')
    return result
  } catch (error) {
    await run('ROLLBACK').catch(() => {})
    throw error
  }
}

async function rowsOf(connection: DuckDBConnection, sql: string, values: string[]): Promise<Rows> {
  return (await connection.runAndReadAll(sql, values)).getRowsJS()
}

/** Closes the connection after the read. */
async function inTime(connection: DuckDBConnection, sql: string, values: string[], limitMs = 2e9) {
  const end = performance.now() + limitMs
  // Again and again, because it stops nothing that has not begun.
  const timer = setInterval(() => connection.interrupt(), limitMs)
  const [answer] = await Promise.allSettled([rowsOf(connection, sql, values)])
  clearInterval(timer)
  connection.closeSync()
  if (performance.now() > end) throw new StoreTimeout(`a read took longer than ${limitMs} ms`)
  if (answer.status === 'rejected') throw answer.reason
  return answer.value
}
