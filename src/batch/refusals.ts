/** The refusals of a batch itself; those of its operations are the same as alone. */

import { badRequest, type HttpError, refusal, said, theirs } from '../http/errors/errors.ts'

/** As much as servers take of a request's first line, and of one header field. */
export const MAX_PATH = 8192
export const MAX_IF_MATCH = 1024

export const operationsNotList = (most: number): HttpError =>
  badRequest('operations-not-list', `'operations' must be a list of at most ${most} operations.`)
export const notAnOperation = (): HttpError =>
  badRequest(
    'not-an-operation',
    "An operation is an object with 'method' and 'path', and perhaps 'body' and 'ifMatch'.",
  )
export const unknownMember = (name: string, allowed: readonly string[]): HttpError =>
  badRequest(
    'unknown-member',
    said`Unknown key '${theirs(name)}' in an operation. Allowed: ${allowed.join(', ')}.`,
  )
export const methodNotInBatch = (): HttpError =>
  badRequest('method-not-in-batch', "'method' must be POST, PATCH or DELETE.")
export const invalidPath = (): HttpError =>
  badRequest('invalid-path', "'path' must be a path like '/cities' or '/cities/<id>'.")
export const pathTooLong = (): HttpError =>
  badRequest('path-too-long', `'path' has more than ${MAX_PATH} bytes.`)
export const ifMatchTooLong = (): HttpError =>
  badRequest('if-match-too-long', `'ifMatch' has more than ${MAX_IF_MATCH} bytes.`)
export const invalidIfMatch = (): HttpError =>
  badRequest('invalid-if-match', "'ifMatch' must be an ETag, or '*'.")
/** `name` is what stands for a record, and `place` where it does. */
export const notCreatedBefore = (name: string, place: string): HttpError =>
  badRequest(
    'not-created-before',
    said`'${name}' in '${theirs(place)}' must name an earlier operation that creates a record, by its index.`,
  )
export const notInBatch = (): HttpError =>
  badRequest(
    'not-in-batch',
    'A batch only creates, changes and deletes records. This path does something else.',
  )
export const overtaken = (): HttpError =>
  refusal('overtaken', 409, 'Other requests kept changing the same entries. Try again.')
export const batchTooLarge = (): HttpError =>
  refusal('batch-too-large', 413, 'The batch is too large. Send fewer operations.')
