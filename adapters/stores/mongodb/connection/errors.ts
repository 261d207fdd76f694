/**
 * Turns the driver's errors into the port's.
 *
 * @module
 */

import type { MongoError, MongoServerError } from 'mongodb'
import {
  type CollectionSchema,
  DuplicateKey,
  InvalidPattern,
  RefusedWrite,
  StoreTimeout,
  StoreUnavailable,
} from '../../../../src/ports/store.ts'

/** The code of the server's E11000. */
export const DUPLICATE_KEY = 11000
/** The document is one that the collection cannot hold. */
const REFUSED: ReadonlySet<unknown> = new Set([
  121, // a validator refuses it
  16755, // an index of places on a sphere finds no place in it
  // Those of an index of places in a plane.
  13026,
  13027,
  13068,
  16804,
])

/** The code of a transaction that has met another one. */
export const WRITE_CONFLICT = 112
/** The code of a collection that exists. */
export const EXISTS = 48

const TOO_LARGE: ReadonlySet<unknown> = new Set([
  10334, // BSONObjectTooLarge
  17280, // KeyTooLong
  17419, // The document after an update
  17420,
])

const INVALID_REGULAR_EXPRESSION = 51091
const TIMEOUTS: ReadonlySet<unknown> = new Set([
  50, // MaxTimeMSExpired
  262, // ExceededTimeLimit
])

/** Errors of the driver that mean "not now": no server, no primary, the connection closed, the client closed. */
const UNREACHABLE: ReadonlySet<string> = new Set([
  'MongoClientClosedError',
  'MongoExpiredSessionError',
  'MongoNetworkError',
  'MongoNetworkTimeoutError',
  'MongoNotConnectedError',
  // The reply was not MongoDB's; the driver then closes the connection.
  'MongoParseError',
  'MongoPoolClearedError',
  'MongoPoolClosedError',
  'MongoServerClosedError',
  'MongoServerSelectionError',
  'MongoStalePrimaryError',
  'MongoTopologyClosedError',
  'MongoUnexpectedServerResponseError',
  'MongoWaitQueueTimeoutError',
  'MongoWriteConcernError',
  'PoolClearedOnNetworkError',
])

/** Errors of a member that is not primary, is shutting down, or cannot reach the others. */
const NOT_NOW: ReadonlySet<unknown> = new Set([
  6, // HostUnreachable
  7, // HostNotFound
  64, // WriteConcernFailed
  89, // NetworkTimeout
  91, // ShutdownInProgress
  100, // UnsatisfiableWriteConcern
  WRITE_CONFLICT, // each time that the transaction was tried
  134, // ReadConcernMajorityNotAvailableYet
  189, // PrimarySteppedDown
  9001, // SocketException
  10107, // NotWritablePrimary
  11600, // InterruptedAtShutdown
  11602, // InterruptedDueToReplStateChange
  13435, // NotPrimaryNoSecondaryOk
  13436, // NotPrimaryOrSecondary
])

/** System errors of a broken connection. The driver passes them on if a write fails at once. */
const BROKEN: ReadonlySet<unknown> = new Set(['ECONNABORTED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT'])

/**
 * `error` as one of the port's errors. An error that no caller could act on becomes a plain error with it as the cause.
 */
export function portError(error: unknown, schema?: CollectionSchema): unknown {
  if (isBroken(error)) return unreachable(error)
  if (isTooLarge(error)) return new RefusedWrite('size', [], { cause: error })
  if (!isDriverError(error)) return error
  const { code } = error
  if (code === DUPLICATE_KEY) return new DuplicateKey(takenFields(error, schema), { cause: error })
  if (REFUSED.has(code)) return new RefusedWrite('value', refusedFields(error), { cause: error })
  if (TIMEOUTS.has(code) || error.name === 'MongoOperationTimeoutError') {
    return new StoreTimeout('the database took too long', { cause: error })
  }
  if (code === INVALID_REGULAR_EXPRESSION) {
    return new InvalidPattern('not a valid regular expression', { cause: error })
  }
  if (UNREACHABLE.has(error.name) || NOT_NOW.has(code)) {
    return unreachable(error)
  }
  return new Error('the database refused the operation', { cause: error })
}

/** Whether a document is larger than MongoDB takes, or than the driver's buffer, which is a little larger. */
function isTooLarge(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  if (error instanceof RangeError) return code === 'ERR_OUT_OF_RANGE'
  return isDriverError(error) && TOO_LARGE.has(code)
}

function isBroken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && BROKEN.has(error.code)
}

function unreachable(error: unknown): StoreUnavailable {
  return new StoreUnavailable('the database cannot be reached', { cause: error })
}

/** Recognised by name: an application may hold two copies of the driver. */
export function isDriverError(error: unknown): error is MongoServerError {
  return error instanceof Error && /^(Mongo|BSON|PoolCleared)/.test(error.name)
}

/** Whether the next try may succeed at once, on another connection or another member. */
export function isPassing(error: unknown): boolean {
  if (isBroken(error)) return true
  return isDriverError(error) && (PASSING.has(error.name) || NOT_NOW.has(error.code))
}

const PASSING: ReadonlySet<string> = new Set([
  'MongoNetworkError',
  'MongoPoolClearedError',
  'PoolClearedOnNetworkError',
])

/** Whether the database replied with this code. */
export function hasCode(error: unknown, code: number): boolean {
  return isDriverError(error) && error.code === code
}

/** Whether the driver put this label on an error. */
export function hasLabel(error: unknown, label: string): boolean {
  return isDriverError(error) && error.hasErrorLabel(label)
}

/** The fields of the index that has the value, in the schema's order. */
function takenFields(
  error: MongoError & { keyPattern?: object },
  schema?: CollectionSchema,
): readonly string[] {
  const keys = Object.keys(error.keyPattern ?? {})
  const declared = schema?.unique.find((fields) => haveSameFields(fields, keys))
  return declared ?? keys
}

/** The fields that a `$jsonSchema` of the collection refuses; the rules of other validators name none. */
function refusedFields({ errInfo }: MongoServerError): readonly string[] {
  const rules: readonly FailedRule[] = errInfo?.details?.schemaRulesNotSatisfied ?? []
  return rules.flatMap(({ propertiesNotSatisfied = [], missingProperties = [] }) => [
    ...propertiesNotSatisfied.map(({ propertyName }) => propertyName),
    ...missingProperties,
  ])
}

/** What the server tells of a rule. */
interface FailedRule {
  readonly propertiesNotSatisfied?: readonly { readonly propertyName: string }[]
  readonly missingProperties?: readonly string[]
}

/** Whether two lists name the same fields, in any order. */
export function haveSameFields(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((field) => others.includes(field))
}
