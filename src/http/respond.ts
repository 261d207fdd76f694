/**
 * The envelope (spec 2.2): every response is built here.
 *
 * @module
 */

import { Response as FastResponse } from '#response'

/** The object `pagination` in the envelope of a list. */
export type Pagination =
  | { currentPage: number; pageSize: number; totalPages: number; totalRecords: number }
  | { currentPage: number; pageSize: number; hasMore: boolean }
  | { pageSize: number; hasMore: boolean; nextCursor: string | null }

/** What a response may set beyond its body. */
export interface ResponseInitLike {
  readonly status?: number
  readonly headers?: Record<string, string>
}

const JSON_TYPE = 'application/json; charset=utf-8'

/** A response whose body is `json`, which is already an envelope. */
export function jsonResponse(json: string, init: ResponseInitLike = {}): Response {
  return new FastResponse(json, {
    status: init.status ?? 200,
    headers: { ...init.headers, 'Content-Type': JSON_TYPE },
  })
}

/** `{ success: true, data }`, where `data` is already JSON. */
export function dataResponse(json: string, init?: ResponseInitLike): Response {
  return jsonResponse(dataJson(json), init)
}

/** `{ success: true, data }`, where `data` is `value` as JSON. */
export function valueResponse(value: unknown, init?: ResponseInitLike): Response {
  return dataResponse(JSON.stringify(value) ?? 'null', init)
}

/** The JSON of a response with one record. */
export function dataJson(dataJson: string): string {
  return `{"success":true,"data":${dataJson}}`
}

/** The JSON of a list: `{ success: true, data, pagination? }`; the records are already JSON. */
export function listJson(records: readonly string[], pagination?: Pagination): string {
  const tail = pagination ? `,"pagination":${JSON.stringify(pagination)}` : ''
  return `{"success":true,"data":[${records.join(',')}]${tail}}`
}

/** A response with a status and headers, but no body. */
export function emptyResponse(status: number, headers: Record<string, string>): Response {
  return new FastResponse(null, { status, headers: { ...headers } })
}

/** The value of a header, or null. Like `setHeader`, it may have a faster way than `headers`. */
export function headerOf(
  response: Response & { header?(name: string): string | null },
  name: string,
): string | null {
  return response.header ? response.header(name) : response.headers.get(name)
}

/** Sets a header. fieldgate's own responses may have a faster way than `headers`. */
export function setHeader(
  response: Response & { setHeader?(name: string, value: string): void },
  name: string,
  value: string,
): void {
  if (response.setHeader) response.setHeader(name, value)
  else response.headers.set(name, value)
}

/** `{ success: true, message }`. */
export function messageResponse(message: string, init?: ResponseInitLike): Response {
  return jsonResponse(JSON.stringify({ success: true, message }), init)
}

/** The members of a failure's envelope. */
export interface Failure {
  readonly error: string
  readonly fields?: Readonly<Record<string, string>> | undefined
  readonly requestId: string
  readonly stack?: string | undefined
}

/** A failure: `{ success: false, error, fields?, requestId, stack? }`. */
export function failureResponse(status: number, failure: Failure, headers?: HeadersInit): Response {
  const response = jsonResponse(JSON.stringify({ success: false, ...failure }), { status })
  for (const [name, value] of new Headers(headers)) response.headers.set(name, value)
  return response
}
