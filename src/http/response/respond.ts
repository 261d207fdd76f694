/** The envelope: every response is built here. */

import { Response as FastResponse } from '#response'
import type { HeaderValues } from '../errors/errors.ts'
import { responseTooLarge } from '../errors/refusals.ts'

/** The object `pagination` in the envelope of a list. */
export type Pagination =
  | { currentPage: number; pageSize: number; totalPages: number; totalRecords: number }
  | { currentPage: number; pageSize: number; hasMore: boolean }
  | { pageSize: number; hasMore: boolean; nextCursor: string | null }
  | { hasMore: boolean }

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
  return jsonResponse(`{"success":true,"data":${json}}`, init)
}

/** `{ success: true, data }`, where `data` is `value` as JSON. */
export function valueResponse(value: unknown, init?: ResponseInitLike): Response {
  return dataResponse(JSON.stringify(value) ?? 'null', init)
}

/** The JSON of a response with one record. Throws a 413 if it has more than `maxBytes` bytes. */
export function recordJson(record: string, maxBytes: number): string {
  return withinBytes(`{"success":true,"data":${record}}`, maxBytes)
}

/** The JSON of a list. Throws a 413 if it has more than `maxBytes` bytes, before the records are joined. */
export function listJson(
  records: readonly string[],
  pagination: Pagination | undefined,
  maxBytes: number,
): string {
  let length = 0
  for (const record of records) length += record.length
  if (length > maxBytes) throw responseTooLarge()
  const tail = pagination ? `,"pagination":${JSON.stringify(pagination)}` : ''
  return withinBytes(`{"success":true,"data":[${records.join(',')}]${tail}}`, maxBytes)
}

/** The most UTF-8 bytes per UTF-16 unit. */
const MAX_BYTES_PER_UNIT = 3

function withinBytes(text: string, maxBytes: number): string {
  // Most responses are so short that their bytes need not be counted.
  if (text.length * MAX_BYTES_PER_UNIT <= maxBytes) return text
  if (text.length > maxBytes || utf8Length(text) > maxBytes) throw responseTooLarge()
  return text
}

export function emptyResponse(status: number, headers: Record<string, string>): Response {
  return new FastResponse(null, { status, headers: { ...headers } })
}

/**
 * Whether a value is a response. It is not compared with the global class: servers such as Hono's put one of theirs in its
 * place, and Node takes 20 ms until it is there.
 */
export function isResponse(value: unknown): value is Response {
  return Object.prototype.toString.call(value) === '[object Response]'
}

/** A response of fieldgate's own, whose headers can be read and set without making a `Headers` of them. */
interface PlainResponse extends Response {
  readonly plainHeaders?: Record<string, string> | undefined
  readonly plainText?: string | null | undefined
}

/** The body of a response that is a text in memory, which nothing has read. */
export function textOf(response: PlainResponse): string | undefined {
  return (response.plainHeaders && response.plainText) ?? undefined
}

export function headerOf(response: PlainResponse, name: string): string | null {
  const plain = response.plainHeaders
  if (!plain) return response.headers.get(name)
  const spelling = spellingIn(plain, name)
  return spelling === undefined ? null : (plain[spelling] ?? null)
}

export function setHeader(response: PlainResponse, name: string, value: string): void {
  const plain = response.plainHeaders
  if (plain) plain[spellingIn(plain, name) ?? name] = value
  else response.headers.set(name, value)
}

/** Says that the response depends on the header `name` of the request. */
export function addVary(response: PlainResponse, name: string): void {
  const vary = headerOf(response, 'Vary')
  const names = vary?.toLowerCase().split(/[\s,]+/) ?? []
  if (names.includes('*') || names.includes(name.toLowerCase())) return
  setHeader(response, 'Vary', vary === null ? name : `${vary}, ${name}`)
}

/** How `headers` spell the name of a header that they have. */
function spellingIn(headers: Readonly<Record<string, string>>, name: string): string | undefined {
  if (Object.hasOwn(headers, name)) return name
  const lower = name.toLowerCase()
  for (const spelling in headers) {
    if (spelling.length === lower.length && spelling.toLowerCase() === lower) return spelling
  }
  return undefined
}

/** `{ success: true, message }`. */
export function messageResponse(message: string, init?: ResponseInitLike): Response {
  return jsonResponse(JSON.stringify({ success: true, message }), init)
}

/** The members of a failure's envelope, beside `success: false`. */
export interface Failure {
  readonly error: string
  readonly fields?: Readonly<Record<string, string>> | undefined
  readonly requestId: string
  readonly stack?: string | undefined
  /** Only in problem details. */
  readonly code?: string | undefined
}

/** A failure in any form. */
export function failed(members: object, status: number, headers: HeaderValues = {}): Response {
  const response = jsonResponse(JSON.stringify(members), { status })
  for (const [name, value] of plainPairs(headers) ?? new Headers(headers)) {
    setHeader(response, name, value)
  }
  return response
}

/** The names and values of headers that are sent as they are. For others, the standard says what becomes of them. */
function plainPairs(headers: HeaderValues): [string, string][] | undefined {
  if (Symbol.iterator in headers) return undefined
  const pairs = Object.entries(headers)
  const isPlain = ([name, value]: [string, unknown]) =>
    /^[\w-]+$/.test(name) && typeof value === 'string' && /^[!-~](?:[ -~]*[!-~])?$/.test(value)
  return pairs.every(isPlain) ? pairs : undefined
}

const encoder = new TextEncoder()
const buffer = new Uint8Array(64 * 1024)

/** The bytes of `text` in UTF-8. Encodes one piece at a time: encoding the whole would need as much memory again. */
export function utf8Length(text: string): number {
  let length = 0
  for (let at = 0; at < text.length; ) {
    const { read, written } = encoder.encodeInto(text.slice(at, at + buffer.length), buffer)
    length += written
    at += read
  }
  return length
}
