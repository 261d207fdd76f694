/**
 * The SQLite store on Cloudflare D1, for Workers. Use it if your app runs only on Cloudflare.
 *
 * @module
 */

import type { Store } from '../../../../src/ports/store/store.ts'
import { CLOUDFLARE_LIMITS, type Row, type SqliteResult, type Statement } from '../layout/sql.ts'
import { executorStore } from './executor.ts'

/** The part of a D1 binding that the store uses; Cloudflare's `D1Database` fits. */
export interface D1Binding {
  prepare(sql: string): D1Statement
  /** Runs statements in one transaction. */
  batch(statements: D1Statement[]): Promise<D1Answer[]>
}

/** A prepared statement of a D1 binding. */
export interface D1Statement {
  bind(...values: unknown[]): D1Statement
  all(): Promise<D1Answer>
}

/** The result of a statement. */
export interface D1Answer {
  readonly results: readonly Row[]
  readonly meta: { readonly changes?: number }
}

/**
 * A store in a D1 database; `binding` is the one of your Worker's `env`. A write resolves when D1 has it on disk. Throws a
 * `TypeError` for anything else.
 */
export function d1Store(binding: D1Binding): Store {
  if (typeof binding?.prepare !== 'function') {
    throw new TypeError(`d1Store: a D1 binding is needed, of wrangler's d1_databases`)
  }
  const bound = ({ sql, values }: Statement) => binding.prepare(sql).bind(...values)
  return executorStore({
    name: 'd1',
    title: 'D1',
    ...CLOUDFLARE_LIMITS,
    run: async (statement) => written(await bound(statement).all()),
    batch: async (statements) => (await binding.batch(statements.map(bound))).map(written),
  })
}

function written({ results, meta }: D1Answer): SqliteResult {
  return { rows: results, changes: meta.changes ?? results.length }
}
