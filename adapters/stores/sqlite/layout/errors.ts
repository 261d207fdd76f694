/**
 * SQLite's errors: which of its result codes one stands for, and what it is to the port. `exec` on Deno (2.9) gives the
 * message alone, so that tells where there is no code.
 */

import {
  type CollectionSchema,
  DuplicateKey,
  QueryTooLong,
  RefusedWrite,
  StoreUnavailable,
} from '../../../../src/ports/store.ts'
import { uniqueFieldsIn } from './sql.ts'

/** The primary result codes that are told apart: https://sqlite.org/rescode.html */
const RESULT = {
  BUSY: 5,
  LOCKED: 6,
  READONLY: 8,
  IOERR: 10,
  FULL: 13,
  CANTOPEN: 14,
  TOOBIG: 18,
} as const

/** SQLite's own texts, with which its messages begin. */
const TEXTS: readonly (readonly [text: string, code: number])[] = [
  ['database is locked', RESULT.BUSY],
  ['database table is locked', RESULT.LOCKED],
  ['attempt to write a readonly database', RESULT.READONLY],
  ['disk I/O error', RESULT.IOERR],
  ['database or disk is full', RESULT.FULL],
  ['unable to open database', RESULT.CANTOPEN],
  ['string or blob too big', RESULT.TOOBIG],
]

/** The primary result code of an error, undefined for one that is not SQLite's or is of another kind. */
function resultCode(error: unknown): number | undefined {
  const { errcode, message } = error as { errcode?: unknown; message?: unknown }
  if (typeof errcode === 'number') return errcode & 0xff
  const text = String(message)
  return TEXTS.find(([begin]) => text.startsWith(begin))?.[1]
}

const { BUSY, LOCKED, READONLY, IOERR, FULL, CANTOPEN } = RESULT
const UNUSABLE: ReadonlySet<unknown> = new Set([BUSY, LOCKED, READONLY, IOERR, FULL, CANTOPEN])

/** The same of D1, whose errors have nothing but a message. The service behind it fails in ways of its own. */
const UNUSABLE_D1: RegExp =
  /^(?:D1_ERROR: .*(?:connection lost|overloaded|transient|\breset\b|exceeded (?:maximum|D1's maximum)|internal error|client disconnected|failed to parse body|SQLITE_(?:BUSY|LOCKED|READONLY|IOERR|FULL|CANTOPEN))|network connection lost)/i

/** The driver's `error` as one for the caller of a collection. */
export function portError(error: unknown, schema: CollectionSchema | undefined): unknown {
  if (!(error instanceof Error)) return error
  const { message } = error
  if (isDuplicate(error)) return new DuplicateKey(takenFields(message, schema), { cause: error })
  if (isUnusable(error))
    return new StoreUnavailable('the database cannot be used', { cause: error })
  if (message.includes('statement too long')) return new QueryTooLong({ cause: error })
  // Of a record: D1 takes 2 MB.
  const isTooBig = message.includes('string or blob too big')
  return isTooBig ? new RefusedWrite('size', [], { cause: error }) : error
}

/** What of the driver's error passes to another thread or process. */
export interface Failure {
  readonly message: string
  readonly errcode?: unknown
}

export function failureOf(error: unknown): Failure {
  const { message, errcode } = error as Failure
  return { message, errcode }
}

/** The error that another thread or process has had. */
export function errorOf({ message, errcode }: Failure): Error {
  return Object.assign(new Error(message), { errcode })
}

/** Whether another connection has the lock that a statement needs. */
export function isBusy(error: unknown): boolean {
  return resultCode(error) === BUSY
}

/** Whether a unique value is taken. */
export function isDuplicate(error: unknown): error is Error {
  return error instanceof Error && error.message.includes('UNIQUE constraint failed:')
}

/** Whether the database, not the statement, is the reason. Earlier changes of the transaction may then be lost. */
export function isUnusable(error: unknown): boolean {
  return UNUSABLE.has(resultCode(error)) || UNUSABLE_D1.test(String((error as Error)?.message))
}

/** Whether a value that is taken is one of the collection's: the message names an index, or the table's `_id`. */
export function isOfTable({ message }: Error, schema: CollectionSchema): boolean {
  return message.endsWith(`failed: ${schema.name}._id`) || takenSet(message, schema) !== undefined
}

function takenFields(message: string, schema: CollectionSchema | undefined): readonly string[] {
  return (schema && takenSet(message, schema)) ?? ['_id']
}

/** The message contains the index's name as a literal. Another version of the app may have declared it. */
function takenSet(message: string, { name }: CollectionSchema): readonly string[] | undefined {
  const [, literal = ''] = message.split("failed: index '")
  return uniqueFieldsIn(name, literal.slice(0, literal.lastIndexOf("'")).replaceAll("''", "'"))
}
