/** SQLite's errors: what they are to the port. Their messages tell: D1 gives no codes, nor does `exec` on Deno (2.9). */

import type { CollectionSchema } from '../../../../src/ports/store/store.ts'
import {
  DuplicateKey,
  QueryTooLong,
  RefusedWrite,
  StoreUnavailable,
} from '../../../../src/ports/store/store-errors.ts'
import { uniqueFieldsIn } from './sql.ts'

const BUSY = /^database is locked/

/** The database, not the statement, is the reason. */
const UNUSABLE: RegExp =
  /^(?:database (?:table )?is locked|attempt to write a readonly database|disk I\/O error|database or disk is full|unable to open database)/

/** The same of D1: the service behind it fails in ways of its own. */
const UNUSABLE_D1: RegExp =
  /^(?:D1_ERROR: .*(?:connection lost|overloaded|transient|\breset\b|exceeded (?:maximum|D1's maximum)|internal error|client disconnected|failed to parse body|SQLITE_(?:BUSY|LOCKED|READONLY|IOERR|FULL|CANTOPEN))|network connection lost)/i

/** And what the storage of a Durable Object throws, as to the requests that a deploy overtakes. */
const UNUSABLE_OBJECT: RegExp =
  /^(?:(?:the |internal error in )?durable object.*(?:\breset\b|overloaded|access)|exceeded allowed .* in durable objects)/i

/** A statement is longer, deeper or wider than the database takes: what the request asks for makes it so. */
const TOO_LONG: RegExp =
  /statement too long|parser stack overflow|Expression tree is too large|too many columns in result set/

/** The driver's `error` as one for the caller of a collection. */
export function portError(error: unknown, schema?: CollectionSchema): unknown {
  if (!(error instanceof Error)) return error
  const { message } = error
  if (isDuplicate(error)) {
    return new DuplicateKey((schema && takenSet(message, schema)) ?? ['_id'], { cause: error })
  }
  if (isUnusable(error)) {
    return new StoreUnavailable('the database cannot be used', { cause: error })
  }
  if (TOO_LONG.test(message)) return new QueryTooLong({ cause: error })
  // Of a record: D1 takes 2 MB.
  const isTooBig = message.includes('string or blob too big')
  return isTooBig ? new RefusedWrite('size', [], { cause: error }) : error
}

/** Throws `error` as one of the port's, for what is about no collection. */
export function throwPortError(error: unknown): never {
  throw portError(error)
}

export function isBusy(error: unknown): boolean {
  return BUSY.test(messageOf(error))
}

export function isDuplicate(error: unknown): error is Error {
  return error instanceof Error && error.message.includes('UNIQUE constraint failed:')
}

/** Whether the database, not the statement, is the reason. Earlier changes of the transaction may then be lost. */
export function isUnusable(error: unknown): boolean {
  const message = messageOf(error)
  return [UNUSABLE, UNUSABLE_D1, UNUSABLE_OBJECT].some((each) => each.test(message))
}

function messageOf(error: unknown): string {
  return String((error as Error | undefined)?.message)
}

/** Whether a value that is taken is one of the collection's: the message names an index, or the table's `_id`. */
export function isOfTable({ message }: Error, schema: CollectionSchema): boolean {
  return message.endsWith(`failed: ${schema.name}._id`) || takenSet(message, schema) !== undefined
}

/** The message contains the index's name as a literal. Another version of the app may have declared it. */
function takenSet(message: string, { name }: CollectionSchema): readonly string[] | undefined {
  const [, literal = ''] = message.split("failed: index '")
  return uniqueFieldsIn(name, literal.slice(0, literal.lastIndexOf("'")).replaceAll("''", "'"))
}
