/**
 * The SQLite store in the storage of a Durable Object, for Workers: data and code stand on one machine, so a read takes
 * microseconds. The object's class needs SQLite storage (`new_sqlite_classes` in wrangler's `migrations`).
 *
 * @module
 */

import type { Store } from '../../../../src/ports/store/store.ts'
import { CLOUDFLARE_LIMITS, type Row, type SqliteResult, type Statement } from '../layout/sql.ts'
import { executorStore } from './executor.ts'

/** The part of `ctx.storage` that the store uses; Cloudflare's `DurableObjectStorage` fits. */
export interface DurableStorage {
  readonly sql: { exec(sql: string, ...values: (string | number)[]): DurableRows }
  /** Runs `work` in a transaction, which ends with it. */
  transactionSync<T>(work: () => T): T
  /** Resolves when all that was written is on disk. */
  sync(): Promise<void>
}

/** The rows of a statement. */
export interface DurableRows {
  toArray(): readonly Row[]
}

/**
 * A store in a Durable Object; `storage` is its `ctx.storage`. A write resolves when it is on disk.
 *
 * ```ts
 * export const Api = appObject((env: Env, { storage }) => createApp({ store: durableStore(storage) }))
 * export default Api.worker({ binding: 'API', instances: 1 })
 * ```
 */
export function durableStore(storage: DurableStorage): Store {
  if (typeof storage?.sql?.exec !== 'function') {
    throw new TypeError(`durableStore: the 'storage' of a Durable Object's state is needed`)
  }
  const rowsOf = ({ sql, values }: Statement) => storage.sql.exec(sql, ...values).toArray()
  const run = (statement: Statement): SqliteResult => {
    const rows = rowsOf(statement)
    const [counted] = rowsOf(CHANGES)
    return { rows, changes: Number(counted?.changes) }
  }
  const durably = async <T>(work: () => T): Promise<T> => {
    const result = storage.transactionSync(work)
    await storage.sync()
    return result
  }
  return executorStore({
    name: 'durable-sqlite',
    title: 'A Durable Object',
    ...CLOUDFLARE_LIMITS,
    async run(statement) {
      if (/^\s*(?:SELECT|WITH)/i.test(statement.sql)) return { rows: rowsOf(statement), changes: 0 }
      return durably(() => run(statement))
    },
    batch: (statements) => durably(() => statements.map(run)),
  })
}

const CHANGES: Statement = { sql: 'SELECT changes() AS changes', values: [] }
