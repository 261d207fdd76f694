/**
 * Requests within a request, from the same caller: operations of a batch, and calls of tools.
 *
 * @module
 */

import { withoutCodings } from '../cache/conditional.ts'
import { shareAuth } from '../http/given-auth.ts'
import { parseQuery } from '../http/query-string.ts'
import type { ApiRequest } from '../http/request.ts'

/** What a part asks for. */
export interface PartInit {
  readonly method: string
  readonly path: string
  /** The headers that it inherits, as far as they are not about the whole request. Default: all. */
  readonly headers?: readonly (readonly [name: string, value: string])[]
  readonly body?: unknown
  readonly ifMatch?: unknown
  readonly signal?: AbortSignal
}

/** Headers about the message itself, or how to answer it. */
const OWN = /^(?:accept$|accept-[ce]|content-|expect$|if-|transfer-|x-http-method)/

/** The request that the client of `whole` would have sent alone. */
export function partRequest(whole: ApiRequest, init: PartInit): ApiRequest {
  const { method, path, body, ifMatch, signal } = init
  const inherited = init.headers ?? [...whole.headers]
  const headers = new Headers(inherited.filter(([name]) => !OWN.test(name)) as [string, string][])
  headers.set('x-request-id', whole.requestId)
  if (body !== undefined) headers.set('content-type', 'application/json')
  if (ifMatch !== undefined) headers.set('if-match', withoutCodings(String(ifMatch)))
  const url = new URL(whole.url).origin + path
  const plain = new Request(url, {
    // Not every runtime makes a QUERY.
    method: method === 'QUERY' ? 'POST' : method,
    headers,
    ...(signal && { signal }),
    ...(body !== undefined && method !== 'DELETE' && { body: JSON.stringify(body) }),
  })
  if (method === 'QUERY') Object.defineProperty(plain, 'method', { value: method })
  const { requestId, traceId } = whole
  const request: ApiRequest = Object.assign(plain, {
    ...{ requestId, query: parseQuery(url), params: {}, route: '' },
    ...(traceId !== undefined && { traceId }),
  })
  shareAuth(whole, request)
  return request
}
