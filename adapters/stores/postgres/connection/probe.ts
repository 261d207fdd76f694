/** What the database says of calls that have waited for a while. */

import { withTimeout } from '../../../../src/ports/promises/with-timeout.ts'
import { type ConnectionOptions, connectionMaker } from './driver.ts'
import { ConnectionPool, type PooledConnection } from './pooled-connection.ts'

/** How long the database may take to answer, in milliseconds. */
const PROBE_MS = 1500

/** Those of these processes that have been waiting for a statement for a while. */
const WAITING = `SELECT pid FROM pg_stat_activity WHERE pid = ANY (string_to_array($1, ',')::int[])
  AND state LIKE 'idle%' AND state_change < clock_timestamp() - interval '2 s'`

/**
 * Those of `used`, which calls use, for which the server does nothing: something on the way has forgotten the connection,
 * and TCP may wait for a quarter of an hour. Asks on a new connection; rejects if the database does not answer.
 */
export async function forgottenOf(
  options: ConnectionOptions,
  used: readonly PooledConnection[],
): Promise<readonly PooledConnection[]> {
  const pool = new ConnectionPool(connectionMaker({ ...options, max: 1 }))
  const calls = used.map((pooled) => ({ pooled, since: pooled.usedSince }))
  const pids = used.map(({ pid = 0 }) => pid).join()
  try {
    const rows = await withTimeout(
      PROBE_MS,
      () => pool.use(({ sql }) => sql.unsafe(WAITING, [pids]).values()),
      () => new Error('the database does not answer'),
    )
    const waiting = new Set(rows.flat().map(Number))
    // Another call may use the connection by now.
    const left = calls.filter(({ pooled, since }) => pooled.usedSince === since)
    return left.map(({ pooled }) => pooled).filter(({ pid = 0 }) => waiting.has(pid))
  } finally {
    pool.lose(undefined)
  }
}
