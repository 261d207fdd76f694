/** What becomes of what a guard, handler or error handler returns: the response that is sent. */

import type { ApiRequest } from '../http/request.ts'
import { addVary, headerOf, setHeader } from '../http/respond.ts'
import type { Logger } from '../ports/logger.ts'
import type { MaybePromise } from '../ports/maybe-promise.ts'
import type { ResponseHook } from '../records/engine/route.ts'
import type { AppContext } from './context.ts'

/** The response to send for `made`, after the hooks of guards. Throws a `TypeError` if it is not a response. */
export function finish(
  made: unknown,
  request: ApiRequest,
  context: AppContext,
  isLate = false,
): MaybePromise<Response> {
  if (!(made instanceof Response)) {
    const what = Array.isArray(made) ? 'a list' : `a value of type ${typeof made}`
    throw new TypeError(
      `${request.method} ${request.route}: a guard, handler or onError returned ${what}. Return a Response, for example Response.json(value); guards may also return nothing, and handlers of routes JSON.`,
    )
  }
  // The headers of a HEAD are those of a GET, so hooks see what a GET would send.
  const isBare = request.method === 'HEAD' && !context.hooks
  const own = isBare ? copyOf(made, null) : made
  // Only for the platform's own responses: reading `bodyUsed` would turn a fast one into one of those.
  if (own.constructor === Response && own.bodyUsed) {
    throw new TypeError('the body of this Response has been read already')
  }
  if (context.hooks) return afterHooks(own, request, context, isLate)
  return complete(own, request, context)
}

async function afterHooks(
  made: Response,
  request: ApiRequest,
  context: AppContext,
  isLate: boolean,
): Promise<Response> {
  const hooked = await runHooks(context.hooks ?? [], made, isLate, context.logger)
  const response = request.method === 'HEAD' ? copyOf(hooked, null) : hooked
  return complete(response, request, context)
}

/** The response that the hooks of guards leave. A hook that fails changes nothing. */
export async function runHooks(
  hooks: readonly ResponseHook[],
  made: Response,
  isLate: boolean,
  logger: Logger,
): Promise<Response> {
  let response = made
  for (const hook of hooks) {
    try {
      response = (await hook(response, isLate)) ?? response
    } catch (error) {
      logger.error('a response hook failed', { error: String(error) })
    }
  }
  return response
}

function complete(response: Response, request: ApiRequest, context: AppContext): Response {
  try {
    addHeaders(response, request, context)
    return response
  } catch {
    // A response from `fetch` or `Response.redirect` has headers that cannot be changed.
    const copy = copyOf(response, response.body)
    addHeaders(copy, request, context)
    return copy
  }
}

/**
 * Adds the request's id, the headers that guards have set, and `Cache-Control` unless it is set already. A response to a
 * request with credentials stays out of every cache: a cache in front of the app does not run its guards. A public read may
 * be kept, but must be revalidated each time; without the header, a cache may choose a lifetime itself (RFC 9111, 4.2.2).
 */
function addHeaders(response: Response, request: ApiRequest, context: AppContext): void {
  setHeader(response, 'X-Request-Id', request.requestId)
  for (const [name, value] of context.ownHeaders ?? []) {
    if (headerOf(response, name) === null) setHeader(response, name, value)
    else response.headers.append(name, value)
  }
  const isAuthorized = request.headers.has('authorization')
  const isPrivate = isAuthorized || Boolean(request.auth)
  if ((isPrivate || context.isRead) && headerOf(response, 'Cache-Control') === null) {
    setHeader(response, 'Cache-Control', isPrivate ? 'private, no-store' : 'no-cache')
  }
  if (isAuthorized) addVary(response, 'Authorization')
}

function copyOf(response: Response, body: ReadableStream | null): Response {
  return new Response(body, {
    status: response.status,
    statusText: response.statusText,
    headers: new Headers(response.headers),
  })
}
