/**
 * What caches between the app and a client are told about answers to someone in particular.
 *
 * @module
 */

import type { ApiRequest } from '../http/request.ts'
import { setHeader } from '../http/respond.ts'

/**
 * Sets `Cache-Control` where nobody else did. A response to a request with credentials stays out of every cache: one in
 * front of the app does not run its guards. A public read (`isRead`) may be kept, but has to be asked about again each
 * time; without a word, a cache may make up a lifetime of its own (RFC 9111, 4.2.2).
 */
export function keepPrivate(request: ApiRequest, response: Response, isRead: boolean): void {
  const authorized = request.headers.has('authorization')
  if (!authorized && !request.auth) {
    if (isRead && !has(response, 'cache-control')) {
      setHeader(response, 'Cache-Control', 'no-cache')
    }
    return
  }
  // Asked for no sooner: few responses have made them yet.
  const { headers } = response
  if (!headers.has('cache-control')) headers.set('Cache-Control', 'private, no-store')
  if (authorized && !varies(headers.get('vary'))) headers.append('Vary', 'Authorization')
}

/** Whether a response has a header. Asking for `headers` turns one of the kit's own into a slower one. */
function has(response: Response & { hasHeader?(name: string): boolean }, name: string): boolean {
  return response.hasHeader ? response.hasHeader(name) : response.headers.has(name)
}

function varies(vary: string | null): boolean {
  return vary !== null && /(?:^|,)\s*(?:\*|authorization)\s*(?:,|$)/i.test(vary)
}
