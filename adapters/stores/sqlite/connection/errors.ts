/**
 * Turns SQLite's errors into the port's.
 *
 * @module
 */

import {
  type CollectionSchema,
  DuplicateKey,
  QueryTooLong,
  RefusedWrite,
  StoreUnavailable,
} from '../../../../src/ports/store.ts'
import { uniqueFieldsIn } from '../schema/steps-to.ts'
import { RESULT, resultCode } from './result-code.ts'

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
