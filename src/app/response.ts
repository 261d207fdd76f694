/**
 * What becomes of what a guard, handler or error handler returns: the response that is sent.
 *
 * @module
 */

import { keepPrivate } from '../cache/private.ts'
import type { ApiRequest } from '../http/request.ts'
import { setHeader } from '../http/respond.ts'
import type { Soon } from '../ports/soon.ts'
import type { AppContext } from './context.ts'

/** The response to send for `made`, after the hooks of guards. Throws a `TypeError` if it is not a response. */
export function finished(
  made: unknown,
  request: ApiRequest,
  context: AppContext,
  isLate = false,
): Soon<Response> {
  if (!(made instanceof Response)) {
    const what = Array.isArray(made) ? 'a list' : `a value of type ${typeof made}`
    throw new TypeError(
      `${request.method} ${request.route}: a guard, handler or onError returned ${what}. Return a Response, for example Response.json(value); guards and handlers may also return nothing.`,
    )
  }
  const own = request.method === 'HEAD' ? copyOf(made, null) : made
  // Only for the platform's own responses: reading `bodyUsed` would turn a fast one into one of those.
  if (own.constructor === Response && own.bodyUsed) {
    throw new TypeError('the body of this Response has been read already')
  }
  if (!context.hasHooks) return sent(own, request, context)
  return context.told(own, isLate).then((told) => sent(told, request, context))
}

function sent(response: Response, request: ApiRequest, context: AppContext): Response {
  try {
    return withHeaders(response, request, context)
  } catch {
    // A response from `fetch` or `Response.redirect` has headers that cannot be changed.
    return withHeaders(copyOf(response, response.body), request, context)
  }
}

function withHeaders(response: Response, request: ApiRequest, context: AppContext): Response {
  setHeader(response, 'X-Request-Id', request.requestId)
  context.addHeaders(response)
  keepPrivate(request, response, context.isRead)
  return response
}

function copyOf(response: Response, body: ReadableStream | null): Response {
  return new Response(body, {
    status: response.status,
    statusText: response.statusText,
    headers: new Headers(response.headers),
  })
}
