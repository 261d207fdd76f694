/** Requests within a request, from the same client: of a batch, of tools, and what a live list asks again. */

import { jsonOf } from '../../ports/values/json.ts'
import { invalidId } from '../errors/refusals.ts'
import { shareAuth } from './given-auth.ts'
import { type ApiRequest, parseQuery } from './request.ts'

/** What a part needs of the whole request. */
export interface Whole extends Pick<ApiRequest, 'url' | 'requestId'> {
  readonly traceId?: string | undefined
  readonly headers: Iterable<[name: string, value: string]>
}

/** What a part asks for, and what else is known of it. */
export interface PartInit extends Partial<Pick<ApiRequest, 'params' | 'route' | 'auth'>> {
  readonly method: string
  /** Default: the route, with `id` as it was sent. */
  readonly path?: string
  readonly id?: unknown
  /** The headers that it inherits, as far as they are not about the whole request. Default: all. */
  readonly headers?: Whole['headers']
  readonly body?: unknown
  readonly ifMatch?: unknown
  readonly signal?: AbortSignal
}

/** Headers about the message itself, or how to answer it. */
const OWN = /^(?:accept$|accept-[ce]|content-|expect$|if-|transfer-|x-http-method)/

/** As a part of a path these lead elsewhere, or nowhere. */
const NO_ID = /^\.{0,2}$|\p{Cs}/u

function inPath(id: string): string {
  if (NO_ID.test(id)) throw invalidId()
  return encodeURIComponent(id)
}

/** The request that the client of `whole` would have sent alone. Throws a 400 for an id that no path can have. */
export function partRequest(whole: Whole, init: PartInit): ApiRequest {
  const { requestId, traceId } = whole
  const { method, id, headers: all = whole.headers, body, ifMatch, signal, ...known } = init
  const { path = known.route?.replace(':id', inPath(String(id))), ...others } = known
  const headers = new Headers([...all].filter(([name]) => !OWN.test(name)))
  headers.set('x-request-id', requestId)
  if (body !== undefined) headers.set('content-type', 'application/json')
  // What no header can hold is the tag of no record.
  if (ifMatch !== undefined)
    headers.set('if-match', String(ifMatch).replace(/[^\t -~\x80-\xff]/g, '?'))
  const url = new URL(whole.url, 'http://localhost').origin + path
  const isQuery = method === 'QUERY'
  const request = new Request(url, {
    // Not every runtime makes a QUERY.
    method: isQuery ? 'POST' : method,
    headers,
    ...(signal && { signal }),
    ...(body !== undefined && method !== 'DELETE' && { body: jsonOf(body) }),
  })
  if (isQuery) Object.defineProperty(request, 'method', { value: method })
  const query = parseQuery(url)
  Object.assign(request, { requestId, traceId, query, params: {}, route: '', ...others })
  shareAuth(whole, request as ApiRequest)
  return request as ApiRequest
}
