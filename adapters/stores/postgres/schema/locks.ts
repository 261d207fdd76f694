/** Start-up beside processes that use the same tables, and with a role that may not do everything. */

import { setTimeout as delay } from 'node:timers/promises'
import { StoreUnavailable } from '../../../../src/ports/store/store-errors.ts'
import type { Place } from '../connection/connection.ts'
import type { Table } from '../layout/columns.ts'
import { CANCELLED, codeOf, FORBIDDEN, NO_LOCK, TAKEN } from '../layout/errors.ts'
import { identifier } from '../layout/sql.ts'

/** How long everything else may queue for a table behind one attempt to lock it, in milliseconds. */
const LOCK_MS = 300
const MAX_PAUSE_MS = 1000
/** How long a lock is waited for, in milliseconds. */
const PATIENCE_MS = 20_000

/** What statements end with when another process prepares or drops the same at the same time. */
const OUTRUN: ReadonlySet<unknown> = new Set([
  // It has just created the same: a schema, table, column, index, constraint, function or extension.
  '42P06',
  '42P07',
  '42701',
  '42710',
  '42723',
  TAKEN,
  // It has just dropped an index that was not finished, or made a constraint of it.
  '42704',
  '55000',
  // Both wait for the table; or changed the same row of the catalogue; or it has dropped an index whose definition was read.
  '40P01',
  'XX000',
])

/** How often it looks again after another process got ahead of it. */
const MAX_ATTEMPTS = 20

type Locking = Pick<Place, 'connection'> & { readonly table: Table }

/** Runs SQL that needs a table for itself. All else on the table waits behind it, so it gives up soon and tries again. */
export async function runLocking(collection: Locking, sql: string): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS
  for (;;) {
    try {
      return await collection.connection.exec(`SET LOCAL lock_timeout = ${LOCK_MS};\n${sql}`)
    } catch (error) {
      if (codeOf(error) !== NO_LOCK) throw error
      if (performance.now() > deadline) throw await stillLocked(collection, error)
    }
    await delay(MAX_PAUSE_MS * (0.2 + 0.8 * Math.random()))
  }
}

async function stillLocked({ connection, table }: Locking, cause: unknown): Promise<Error> {
  const sql = `SELECT DISTINCT format('process %s (%s, %s since %s)', pid,
      coalesce(nullif(application_name, ''), usename), state, date_trunc('second', xact_start))
    FROM pg_locks JOIN pg_stat_activity USING (pid)
    WHERE relation = to_regclass($1::text) AND granted AND pid <> pg_backend_pid() LIMIT 3`
  const rows = await connection.rows(sql, table.sql)
  const holders = rows.map(([holder]) => holder).join(', ') || 'another transaction'
  return new StoreUnavailable(
    `postgresStore: ${table.sql} could not be changed, because it has been locked for ${PATIENCE_MS / 1000} s by ${holders}`,
    { cause },
  )
}

/** The result of `work`, which creates and changes things in the schema `space`; says which right or time is missing for it. */
export async function permitted<T>(
  { connection, space }: Place,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (codeOf(error) === CANCELLED) {
      const message =
        "postgresStore: the start makes indexes or columns that take longer than the database's statement_timeout. Let it begin once with ?statement_timeout=0 in the url"
      throw new StoreUnavailable(message, { cause: error })
    }
    if (codeOf(error) !== FORBIDDEN) throw error
    const sql = `SELECT current_user, current_database(),
      EXISTS (SELECT FROM pg_namespace WHERE nspname = $1::text),
      coalesce((SELECT has_schema_privilege(oid, 'USAGE') AND has_schema_privilege(oid, 'CREATE')
        FROM pg_namespace WHERE nspname = $1::text), false)`
    const [row = []] = await connection.rows(sql, space)
    const [user, database, exists, mayCreate] = row
    const [role, schema] = [identifier(String(user)), identifier(space)]
    const where = `in the schema ${schema} (${(error as Error).message})`
    const grant =
      exists === 't'
        ? `USAGE, CREATE ON SCHEMA ${schema}`
        : `CREATE ON DATABASE ${identifier(String(database))}`
    throw new TypeError(
      mayCreate === 't'
        ? `postgresStore: the role ${role} must own the tables that fieldgate created ${where}. Let their owner run for each: ALTER TABLE … OWNER TO ${role}`
        : `postgresStore: the role ${role} may not create tables ${where}. Let an administrator run: GRANT ${grant} TO ${role}`,
      { cause: error },
    )
  }
}

/** The result of `work`, which is called again where another process got ahead; it gets the number of the attempt, from 1. */
export async function patiently<T>(work: (attempt: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work(attempt)
    } catch (error) {
      if (attempt >= MAX_ATTEMPTS || !OUTRUN.has(codeOf(error))) throw error
      // At random, so that those who met don't meet again.
      await delay(attempt * (10 + Math.random() * 40))
    }
  }
}
