/**
 * What caches between the app and a client are told about answers to someone in particular.
 *
 * @module
 */

import type { ApiRequest } from '../http/request.ts'

/**
 * Keeps an answer out of shared caches when the request brought credentials, unless the deployer has said
 * otherwise. A cache in front of the app does not run its guards.
 */
export function keepPrivate(request: ApiRequest, response: Response): void {
  const authorized = request.headers.has('authorization')
  if (!authorized && !request.auth) return
  // Asked for no sooner: few responses have made them yet.
  const { headers } = response
  if (!headers.has('cache-control')) headers.set('Cache-Control', 'private, no-store')
  if (authorized && !varies(headers.get('vary'))) headers.append('Vary', 'Authorization')
}

function varies(vary: string | null): boolean {
  return vary !== null && /(?:^|,)\s*(?:\*|authorization)\s*(?:,|$)/i.test(vary)
}
