/**
 * Tells caches between the app and the client what they may keep.
 *
 * @module
 */

import type { ApiRequest } from '../http/request.ts'
import { headerOf, setHeader } from '../http/respond.ts'

/**
 * Sets `Cache-Control` unless it is set already. A response to a request with credentials stays out of every cache: a
 * cache in front of the app does not run its guards. A public read (`isRead`) may be kept, but must be revalidated each
 * time; without the header, a cache may choose a lifetime itself (RFC 9111, 4.2.2).
 */
export function keepPrivate(request: ApiRequest, response: Response, isRead: boolean): void {
  const authorized = request.headers.has('authorization')
  if (!authorized && !request.auth) {
    if (isRead && headerOf(response, 'Cache-Control') === null) {
      setHeader(response, 'Cache-Control', 'no-cache')
    }
    return
  }
  if (headerOf(response, 'Cache-Control') === null) {
    setHeader(response, 'Cache-Control', 'private, no-store')
  }
  const vary = headerOf(response, 'Vary')
  if (authorized && !varies(vary)) {
    setHeader(response, 'Vary', vary === null ? 'Authorization' : `${vary}, Authorization`)
  }
}

function varies(vary: string | null): boolean {
  return vary !== null && /(?:^|,)\s*(?:\*|authorization)\s*(?:,|$)/i.test(vary)
}
