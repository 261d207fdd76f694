/** Turns the driver's errors into the port's. */

import {
  DuplicateKey,
  QueryTooLong,
  RefusedWrite,
  StoreTimeout,
  StoreUnavailable,
} from '../../../../src/ports/store/store-errors.ts'
import type { Table } from './columns.ts'
import { fieldsIn, namesIn } from './indexed-fields.ts'
import { identifier } from './sql.ts'

export const TAKEN = '23505'
/** A lock was not to be had within `lock_timeout`, or at once. */
export const NO_LOCK = '55P03'
/** The role lacks a right, row-level security refused a row, or a trigger says so. */
export const FORBIDDEN = '42501'
/** The server is a standby, or was made to take no writes. */
export const NO_WRITES = '25006'
/** The server has no room for one more connection: what it was opened for was not sent. */
export const NO_ROOM = '53300'
/** `statement_timeout`, or somebody who ends statements. */
export const CANCELLED = '57014'
const FOREIGN = '23503'
const CHECKED = '23514'
/** An exclusion constraint. */
const EXCLUDED = '23P01'
/** A foreign key with ON DELETE RESTRICT, since PostgreSQL 18. */
const RESTRICTED = '23001'

/** A constraint, a value that its column cannot hold, or `RAISE EXCEPTION` in a trigger. */
const REFUSED = /^(?:23|22|P0001)/
/** What finds that row-level security or a trigger refuses a row: a right that the role lacks is no client's doing. */
const FORBIDDING: ReadonlySet<unknown> = new Set(['ExecWithCheckOptions', 'exec_stmt_raise'])
/** A value is too long for an index, or a record for a row. */
const TOO_LARGE = '54000'
/** A statement is deeper or wider than the server takes: what the request asks for makes it so. */
const TOO_LONG: ReadonlySet<unknown> = new Set(['54001', '54011', '54023'])

const UNSUPPORTED = '0A000'
/** What finds that a prepared statement's columns have another type now. The driver then prepares it again. */
const OUTDATED = 'RevalidateCachedQuery'

/** Two transactions waited for each other, or could not be put in an order: the same statement may succeed now. */
const COLLISIONS: ReadonlySet<unknown> = new Set(['40001', '40P01'])

/**
 * The server ends or starts, gives no lock in time, has ended a transaction that took too long, has no room, or takes no
 * writes: it is a standby, or was one just now. Or it lets nobody in by this account, as after a new password (28), or to this
 * database, which is being restored (3D).
 */
const UNUSABLE = /^(?:08|25006|25P0[34]|28|3D|53|55P03|57P|58|F0|XX)/

/** What the driver and the runtimes call a connection that broke or could not be made. */
const LOST =
  /^(?:53300|CONNECT|CONNECTION_|E(?:CONN|PIPE|HOST|NET|AI_|NOTFOUND|TIMEDOUT|ADDR|MFILE)|ERR_(?:TLS|SSL|STREAM)|CERT_)/

export function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined
  return typeof code === 'string' ? code : undefined
}

/** Whether the statement may succeed if it is sent again. */
export function isCollision(error: unknown): boolean {
  const code = codeOf(error)
  return COLLISIONS.has(code) || (code === UNSUPPORTED && (error as Refusal).routine === OUTDATED)
}

/** Whether the connection broke, or could not be made. */
export function isConnectionLost(error: unknown): boolean {
  return LOST.test(codeOf(error) ?? '')
}

/** The error of a call whose connection broke. */
export function brokenConnection(): StoreUnavailable {
  const cause = new Error('the connection broke')
  return new StoreUnavailable('the database cannot be used', { cause })
}

/** Whether a write left this column empty, which must have a value. */
export function isEmptyColumn(error: unknown, name: string): boolean {
  return codeOf(error) === '23502' && (error as Refusal).column_name === name
}

/** Whether the database, not the statement, is the reason. */
export function isUnusable(error: unknown): boolean {
  const code = codeOf(error)
  return code !== undefined && (UNUSABLE.test(code) || isConnectionLost(error))
}

/** The driver's `error` as one for the caller of a collection; `table` is the one that was written to. */
export function portError(error: unknown, table?: Table): unknown {
  const code = codeOf(error)
  if (code === CANCELLED) return new StoreTimeout('the read took too long', { cause: error })
  if (table && code === TAKEN) {
    const fields = takenFields(error, table)
    if (fields.length > 0) return new DuplicateKey(fields, { cause: error })
  }
  if (TOO_LONG.has(code)) return new QueryTooLong({ cause: error })
  if (table && code === TOO_LARGE) return new RefusedWrite('size', [], { cause: error })
  if (table && isRefused(error)) return refusedBy(error, table)
  if (isUnusable(error) || isCollision(error)) {
    return new StoreUnavailable('the database cannot be used', { cause: error })
  }
  return error
}

/** The result of `call`; its errors are the port's. */
export function ported<T>(call: Promise<T>, table?: Table): Promise<T> {
  return call.catch((error: unknown) => {
    throw portError(error, table)
  })
}

function isRefused(error: unknown): boolean {
  const code = codeOf(error)
  return code === FORBIDDEN ? FORBIDDING.has((error as Refusal).routine) : REFUSED.test(code ?? '')
}

/** A write that a rule of `table` refuses. */
function refusedBy(error: unknown, table: Table): RefusedWrite {
  if (codeOf(error) === EXCLUDED) {
    const { detail = '' } = error as Refusal
    return new RefusedWrite('overlap', fieldsIn(detail, table.columns), { cause: error })
  }
  const fields = refusedFields(error, table)
  const { constraint_name: name, routine } = error as Refusal
  // The message may quote values.
  const by = `${codeOf(error)} ${name ?? routine}`
  return new RefusedWrite(ruleOf(error, table, fields), fields, { cause: error, by })
}

interface Refusal {
  readonly message?: string
  /** The statement; the driver sets it. */
  readonly query?: string
  readonly constraint_name?: string
  readonly table_name?: string
  readonly column_name?: string
  readonly detail?: string
  /** The function of the server that found it. */
  readonly routine?: string
}

/**
 * The fields of the constraint that the error names. In a table of the store's own the detail has them: another version of
 * the app may have made it, even under a name that this model gives to another one.
 */
function takenFields(error: unknown, table: Table): readonly string[] {
  const { constraints, columns, isAdopted } = table
  const { constraint_name: name = '', detail = '' } = error as Refusal
  // Key (email, (info -> 'code'::text))=(a@b.c, 7) already exists.
  const key = detail.slice(detail.indexOf('('))
  const found = isAdopted ? [] : fieldsIn(key, columns)
  const fields = found.length > 0 ? found : (constraints.get(name) ?? ['_id'])
  if (fields.length > 0) return fields
  // Key (lower(email::text))=(a@b.c) already exists.
  const names = new Set(namesIn(key))
  return columns.filter(({ name: column }) => names.has(column)).map(({ field }) => field)
}

/** The rule that refused a write to `table`; `fields` are those that the error names. */
function ruleOf(error: unknown, { sql }: Table, fields: readonly string[]): RefusedWrite['rule'] {
  const code = codeOf(error)
  if (code === RESTRICTED) return 'referenced'
  if (code !== FOREIGN) return 'value'
  // The server names the table that refers, in both directions; a table may refer to itself.
  const { table_name: referring = '', query = '', message = '' } = error as Refusal
  // In every language of `lc_messages`: of a value that others refer to, the message names two tables, else one.
  const isReferred = (message.match(/["“”„«»]/g) ?? []).length > 4
  if (query.includes('DELETE FROM') || isReferred) return 'referenced'
  const isOwn = sql.endsWith(`.${identifier(referring)}`) && fields.join() !== '_id'
  return isOwn ? 'reference' : 'referenced'
}

function refusedFields(error: unknown, { columns, constraints }: Table): readonly string[] {
  const { column_name: column, constraint_name: name = '', detail = '' } = error as Refusal
  // Its detail has the row alone, which a client may have written.
  if (codeOf(error) === CHECKED) return constraints.get(name) ?? []
  // Key (country_id)=(7) is not present in table "countries": here no name is in quotes.
  const key = detail.slice(detail.indexOf('(') + 1)
  const end = key.indexOf(')=(')
  const single = columns.find(({ name }) => key.startsWith(`${name})=(`))
  const names = single ? [single.name] : end < 0 ? [column] : key.slice(0, end).split(', ')
  return columns.filter(({ name }) => names.includes(name)).map(({ field }) => field)
}
