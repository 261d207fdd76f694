/**
 * Turns the driver's errors into the port's.
 *
 * @module
 */

import { DuplicateKey, StoreTimeout, StoreUnavailable } from '../../../src/ports/store.ts'
import type { Table } from './columns.ts'

/** A unique value is taken. */
export const TAKEN = '23505'
const CANCELLED = '57014'

/** Two transactions waited for each other, or could not be put in an order: the same statement may succeed now. */
const COLLISIONS: ReadonlySet<unknown> = new Set(['40001', '40P01'])

/**
 * The server goes away or is starting, has no room for more, or takes no writes: it is a standby, or was one a moment
 * ago.
 */
const UNUSABLE = /^(?:08|53|57P|58|25006|F0|XX)/

/** What the driver and the runtimes call a connection that broke or could not be made. */
const LOST =
  /^(?:CONNECT|CONNECTION_|E(?:CONN|PIPE|HOST|NET|AI_|NOTFOUND|TIMEDOUT|ADDR|MFILE)|ERR_(?:TLS|SSL|STREAM)|CERT_)/

/** The `code` of the server's error, or of the driver's. */
export function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined
  return typeof code === 'string' ? code : undefined
}

/** Whether the statement may succeed if it is sent again. */
export function isCollision(error: unknown): boolean {
  return COLLISIONS.has(codeOf(error))
}

/** Whether the database, not the statement, is the reason. */
export function isUnusable(error: unknown): boolean {
  const code = codeOf(error)
  return code !== undefined && (UNUSABLE.test(code) || LOST.test(code))
}

/** The driver's `error` as one for the caller of a collection. */
export function portError(error: unknown, constraints?: Table['constraints']): unknown {
  const code = codeOf(error)
  if (code === CANCELLED) return new StoreTimeout('the read took too long', { cause: error })
  if (constraints && code === TAKEN)
    return new DuplicateKey(takenFields(error, constraints), { cause: error })
  if (isUnusable(error) || isCollision(error)) {
    return new StoreUnavailable('the database cannot be used', { cause: error })
  }
  return error
}

/** The fields of the constraint that the error names. */
function takenFields(error: unknown, constraints: Table['constraints']): readonly string[] {
  const { constraint_name: name } = error as { constraint_name?: unknown }
  return constraints.get(String(name)) ?? ['_id']
}
