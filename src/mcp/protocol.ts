/**
 * JSON-RPC over Streamable HTTP: each POST is one request, and nothing is kept between two. Clients of 2026-07-28 say with
 * each request who they are; those before it say so once, by `initialize`.
 *
 * @module
 */

import { type BodyLimits, readJson } from '../http/body.ts'
import { HttpError } from '../http/errors.ts'
import { jsonResponse, type ResponseInitLike } from '../http/respond.ts'
import { isFields } from '../model/writable.ts'
import type { Fields } from '../ports/store.ts'

/** The revision in which each request stands alone. */
export const REVISION = '2026-07-28'
/** The revisions that begin with `initialize`, the newest first. */
export const EARLIER: readonly string[] = ['2025-11-25', '2025-06-18']
/** What names the members of `_meta`. */
export const META = 'io.modelcontextprotocol/'

const INVALID_REQUEST = -32600
const INVALID_PARAMS = -32602
const PARSE_ERROR = -32700
const HEADER_MISMATCH = -32020
const UNSUPPORTED_VERSION = -32022

type Id = string | number | null

/** A request of a client. */
export interface Call {
  readonly method: string
  readonly params: Fields
  /** Whether it is one of the newest revision. */
  readonly isAlone: boolean
}

/** The result of a call, and what its HTTP response has beyond it. */
export interface Answer extends ResponseInitLike {
  readonly result: object
}

/** Refuses a call. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  readonly code: number
  readonly status: number
  readonly data: unknown

  constructor(code: number, message: string, status = 400, data?: unknown) {
    super(message)
    this.code = code
    this.status = status
    this.data = data
  }
}

/** Refuses parameters; those before 2026-07-28 expect every answer with a 200. */
export function invalidParams(message: string, isAlone = true): RpcError {
  return new RpcError(INVALID_PARAMS, message, isAlone ? 400 : 200)
}

/** Reads the call in `request`, and responds with what `answer` makes of it. */
export async function converse(
  request: Request,
  limits: BodyLimits,
  answer: (call: Call) => Promise<Answer>,
): Promise<Response> {
  let id: Id = null
  try {
    const message = await messageIn(request, limits)
    if (isId(message.id)) id = message.id
    const { method, params } = checked(message)
    if (id === null) return new Response(null, { status: 202 })
    const isAlone = standsAlone(request, method, params)
    const { result, ...init } = await answer({ method, params, isAlone })
    return sent({ id, result }, init)
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    const { code, message, status, data } = error
    return sent({ id, error: { code, message, ...(data !== undefined && { data }) } }, { status })
  }
}

function sent(body: object, init: ResponseInitLike): Response {
  const headers = { 'Cache-Control': 'no-store', ...init.headers }
  return jsonResponse(JSON.stringify({ jsonrpc: '2.0', ...body }), { ...init, headers })
}

async function messageIn(request: Request, limits: BodyLimits): Promise<Fields> {
  const json = await readJson(request, limits).catch((error: unknown) => {
    if (!(error instanceof HttpError)) throw error
    throw new RpcError(PARSE_ERROR, error.message, error.status)
  })
  if (isFields(json)) return json
  throw new RpcError(INVALID_REQUEST, 'Send one JSON-RPC 2.0 request.')
}

function isId(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number'
}

function checked({ jsonrpc, id, method, params = {} }: Fields): Omit<Call, 'isAlone'> {
  const isRequest = jsonrpc === '2.0' && (id === undefined || isId(id))
  if (isRequest && typeof method === 'string' && isFields(params)) return { method, params }
  throw new RpcError(INVALID_REQUEST, 'Send one JSON-RPC 2.0 request.')
}

/** Whether a request is of the newest revision. Throws if it names another one, or if its headers say other things. */
function standsAlone({ headers }: Request, method: string, params: Fields): boolean {
  const sent = headers.get('mcp-protocol-version')
  const meta = isFields(params._meta) ? params._meta : {}
  const named = meta[`${META}protocolVersion`]
  if (named === undefined) return withoutMeta(sent, method)
  if (sent === null || sent !== named) throw mismatch('MCP-Protocol-Version')
  if (EARLIER.includes(sent)) return false
  if (sent !== REVISION) throw unsupported(sent)
  if (!isFields(meta[`${META}clientCapabilities`])) throw lacking('clientCapabilities')
  if (decoded(headers.get('mcp-method')) !== method) throw mismatch('Mcp-Method')
  if (method === 'tools/call' && decoded(headers.get('mcp-name')) !== params.name) {
    throw mismatch('Mcp-Name')
  }
  return true
}

/** The same for a request that names no revision in its body. */
function withoutMeta(sent: string | null, method: string): false {
  if (sent === REVISION || method === 'server/discover') throw lacking('protocolVersion')
  if (sent === null || EARLIER.includes(sent) || method === 'initialize') return false
  throw unsupported(sent)
}

function lacking(member: string): RpcError {
  return invalidParams(`_meta must have '${META}${member}'.`)
}

function unsupported(requested: string): RpcError {
  const data = { supported: [REVISION, ...EARLIER], requested }
  return new RpcError(UNSUPPORTED_VERSION, 'This protocol version is not supported.', 400, data)
}

function mismatch(header: string): RpcError {
  return new RpcError(HEADER_MISMATCH, `The header ${header} must say what the body says.`)
}

/** The value of a header, which may be base64 of UTF-8; undefined if it is none. */
function decoded(value: string | null): string | undefined {
  if (!value?.startsWith('=?base64?') || !value.endsWith('?=')) return value ?? undefined
  try {
    const bytes = Uint8Array.from(atob(value.slice(9, -2)), (one) => one.charCodeAt(0))
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
