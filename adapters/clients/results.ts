/**
 * The client's results as admin interfaces take them.
 *
 * @module
 */

import { ClientError, type Failure, type Result } from '../../src/client/index.ts'

/** A client of any app, as `createClient` returns it. */
export type AnyClient = (mount: never) => unknown

/** A record with an `id`, which is its `_id`. */
export interface NamedRecord {
  readonly id: string
  readonly [field: string]: unknown
}

/** Values by field. */
export type Values = Readonly<Record<string, unknown>>

/** A record, as the server has it. */
export interface Stored extends Values {
  readonly _id: string
}

/** A record under the id that admin interfaces look for. */
export function withId(record: Stored): NamedRecord {
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

/** A failure that forms show beside their fields: react-admin reads `body.errors`, refine `errors` and `statusCode`. */
export function refusal(failure: Failure): ClientError & { readonly statusCode: number } {
  const { status: statusCode, fields: errors } = failure
  const told = errors ? { statusCode, errors, body: { errors } } : { statusCode }
  return Object.assign(new ClientError(failure), told)
}

/** The record of a result as both packages take it; throws the failure. */
export function shown(result: Result<Stored>): { data: NamedRecord } {
  return { data: withId(done(result)) }
}
