/**
 * What both providers make of the client's results.
 *
 * @module
 */

import { ClientError, type Failure, type Result } from '../../../src/client/index.ts'

/** A client of any app, as `createClient` returns it. */
export type AnyClient = (mount: never) => unknown

/** A record, as react-admin has it: `id` is the record's `_id`. */
export interface ReactAdminRecord {
  readonly id: string
  readonly [field: string]: unknown
}

/** Values by field. */
export type Values = Readonly<Record<string, unknown>>

/** A record, as the server has it. */
export interface Stored extends Values {
  readonly _id: string
}

/** A record under the id that react-admin looks for. */
export function withId(record: Stored): ReactAdminRecord {
  return { ...record, id: record._id }
}

/** The data of a result; throws the failure. */
export function done<T, P>(result: Result<T, P>): T {
  return succeeded(result).data
}

/** A result that succeeded; throws the failure. */
export function succeeded<T, P>(result: Result<T, P>): Extract<Result<T, P>, { ok: true }> {
  if (result.ok) return result
  throw refusal(result.error)
}

/** A failure as react-admin takes it: forms show `body.errors` beside their fields. */
export function refusal(failure: Failure): ClientError {
  const error = new ClientError(failure)
  return failure.fields ? Object.assign(error, { body: { errors: failure.fields } }) : error
}
