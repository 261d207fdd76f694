/** Turns the driver's errors into the port's. */

import type { MongoError, MongoServerError } from 'mongodb'
import type { CollectionSchema } from '../../../../src/ports/store/store.ts'
import {
  DuplicateKey,
  InvalidPattern,
  RefusedWrite,
  StoreTimeout,
  StoreUnavailable,
} from '../../../../src/ports/store/store-errors.ts'
import { haveSameFields } from '../../left-over.ts'

export const DUPLICATE_KEY = 11000
/** The code of a transaction that has met another one. */
export const WRITE_CONFLICT = 112
export const EXISTS = 48
/** The code of an operation that was ended: by another process, which has taken this one for dead. */
export const INTERRUPTED = 11601

const INVALID_REGULAR_EXPRESSION = 51091
/** CommandNotSupportedOnView: a start asks for indexes. */
const ON_VIEW = 166
const onView = (name: string) =>
  `MongoDB: '${name}' is a view, which keeps no records of its own. Give the model another 'collection'`
/** SnapshotUnavailable: the collection was dropped or renamed meanwhile, or can't be read at one moment, such as a capped one. */
export const NO_SNAPSHOT = 246
/** A validator refuses the document (121), or an index of places on a sphere or in a plane finds no place in it. */
const REFUSED = new Set<unknown>([121, 16755, 13026, 13027, 13068, 16804])
/** BSONObjectTooLarge, KeyTooLong, and a document that is too large after an update. */
const TOO_LARGE = new Set<unknown>([10334, 17280, 17419, 17420])
const TOO_LONG = /^Document is larger than the maximum size/
/** MaxTimeMSExpired, ExceededTimeLimit. */
const TIMEOUTS = new Set<unknown>([50, 262])

/** Errors of the driver that the next try may not meet, on another connection or another member. */
const PASSING = new Set(['MongoNetworkError', 'MongoPoolClearedError', 'PoolClearedOnNetworkError'])

/** Others that mean "not now": no server, no primary, the connection closed, the client closed. */
const UNREACHABLE = new Set([
  'MongoClientClosedError',
  'MongoExpiredSessionError',
  'MongoNetworkTimeoutError',
  'MongoNotConnectedError',
  // The reply was not MongoDB's; the driver then closes the connection.
  'MongoParseError',
  'MongoPoolClosedError',
  'MongoServerClosedError',
  'MongoServerSelectionError',
  'MongoStalePrimaryError',
  'MongoTopologyClosedError',
  'MongoUnexpectedServerResponseError',
  'MongoWaitQueueTimeoutError',
  'MongoWriteConcernError',
])

/** Errors of a member that is not primary, is shutting down, or cannot reach the others. */
const NOT_NOW = new Set<unknown>([
  6, // HostUnreachable
  7, // HostNotFound
  24, // LockTimeout, each time that the transaction was tried: of one that waits for an index or `fsyncLock`
  43, // CursorNotFound
  64, // WriteConcernFailed
  89, // NetworkTimeout
  91, // ShutdownInProgress
  100, // UnsatisfiableWriteConcern
  WRITE_CONFLICT, // each time that the transaction was tried
  134, // ReadConcernMajorityNotAvailableYet
  175, // QueryPlanKilled: the index that it used was dropped, or its collection was
  189, // PrimarySteppedDown
  237, // CursorKilled
  239, // SnapshotTooOld
  NO_SNAPSHOT,
  251, // NoSuchTransaction, each time that it was tried
  365, // TemporarilyUnavailable: the server has no room in its cache
  9001, // SocketException
  10107, // NotWritablePrimary
  11600, // InterruptedAtShutdown
  INTERRUPTED,
  11602, // InterruptedDueToReplStateChange
  13435, // NotPrimaryNoSecondaryOk
  13436, // NotPrimaryOrSecondary
])

/**
 * AuthenticationFailed, at MongoDB and at Atlas: the account is gone, or has another password. Another try is no use; nor is
 * it with UserWritesBlocked, as while a database is moved, and OutOfDiskSpace.
 */
const SHUT_OUT = new Set<unknown>([18, 8000, 371, 14031])

/** System errors of a broken connection. The driver passes them on if a write fails at once. */
const BROKEN = new Set<unknown>(['ECONNABORTED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT'])

/** `error` as one of the port's errors. An error that no caller could act on becomes a plain error with it as the cause. */
export function portError(error: unknown, schema?: CollectionSchema): unknown {
  const options = { cause: error }
  const unreachable = () => new StoreUnavailable('the database cannot be reached', options)
  if (isPassing(error)) return unreachable()
  if (isTooLarge(error)) return new RefusedWrite('size', [], options)
  if (!isDriverError(error)) return error
  const { code, name } = error
  if (code === DUPLICATE_KEY) return new DuplicateKey(takenFields(error, schema), options)
  if (REFUSED.has(code)) {
    const by = [code, error.codeName].join(' ').trim()
    return new RefusedWrite('value', refusedFields(error), { ...options, by })
  }
  if (TIMEOUTS.has(code) || name === 'MongoOperationTimeoutError') {
    return new StoreTimeout('the database took too long', options)
  }
  if (code === INVALID_REGULAR_EXPRESSION) {
    return new InvalidPattern('not a valid regular expression', options)
  }
  if (UNREACHABLE.has(name) || SHUT_OUT.has(code)) return unreachable()
  if (code === ON_VIEW && schema) return new TypeError(onView(schema.name), options)
  return new Error('the database refused the operation', options)
}

/** Whether a document is larger than MongoDB takes, or than the driver's buffer, which is a little larger. */
function isTooLarge(error: unknown): boolean {
  if (error instanceof RangeError) return 'code' in error && error.code === 'ERR_OUT_OF_RANGE'
  // What writes several documents looks at their sizes itself, and has no code for it.
  return isDriverError(error) && (TOO_LARGE.has(error.code) || TOO_LONG.test(error.message))
}

/** Recognised by name: an application may hold two copies of the driver. */
export function isDriverError(error: unknown): error is MongoServerError {
  return error instanceof Error && /^(Mongo|BSON|PoolCleared)/.test(error.name)
}

/** Whether the next try may succeed at once, on another connection or another member. */
export function isPassing(error: unknown): boolean {
  if (isDriverError(error)) return PASSING.has(error.name) || NOT_NOW.has(error.code)
  return error instanceof Error && 'code' in error && BROKEN.has(error.code)
}

export function hasCode(error: unknown, code: number): boolean {
  return isDriverError(error) && error.code === code
}

/** Throws an error, unless the database replied with this code: for what is done already. */
export function unless(code: number): (error: unknown) => void {
  return (error) => {
    if (!hasCode(error, code)) throw error
  }
}

/** The driver wraps what ends a write of several documents, even a lost connection; then neither the name nor the cause tells. */
export function unwrapped(error: unknown): unknown {
  const { errorResponse } = Object(error) as { readonly errorResponse?: unknown }
  return errorResponse instanceof Error ? errorResponse : error
}

/** Throws an error of a transaction; a document that is there was made by another one, after which it can be tried again. */
export function throwMet(thrown: unknown): never {
  const error = unwrapped(thrown)
  if (isDriverError(error) && error.code === DUPLICATE_KEY) {
    error.addErrorLabel('TransientTransactionError')
  }
  throw error
}

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

interface FailedRule {
  readonly propertiesNotSatisfied?: readonly { readonly propertyName: string }[]
  readonly missingProperties?: readonly string[]
}
