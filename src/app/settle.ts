/**
 * What becomes of a request's result: the response that is sent.
 *
 * @module
 */

import { keepPrivate } from '../cache/private.ts'
import { type ErrorHandler, errorHandler } from '../http/error-handler.ts'
import type { ApiRequest } from '../http/request.ts'
import { setHeader } from '../http/respond.ts'
import { explained } from '../http/shield.ts'
import { after, caught, type Soon } from '../ports/soon.ts'
import type { AppContext } from './context.ts'

/** The response that `work` returns, or that of its failure. */
export function settled(
  work: () => Soon<unknown>,
  onError: ErrorHandler,
  request: ApiRequest,
  context: AppContext,
): Soon<Response> {
  return caught(
    () => after(work(), (made) => finished(made, request, context)),
    (error) => failed(onError, error, request, context),
  )
}

/** Your own error handler may fail; the client still gets the envelope. */
export async function failed(
  onError: ErrorHandler,
  error: unknown,
  request: ApiRequest,
  context: AppContext,
  isLate = false,
): Promise<Response> {
  try {
    const told = explained(request, error)
    return await finished(await onError(told, request, context), request, context, isLate)
  } catch (second) {
    const cause = new Error('onError failed', { cause: second })
    return finished(await errorHandler()(cause, request, context), request, context, isLate)
  }
}

function finished(
  response: unknown,
  request: ApiRequest,
  context: AppContext,
  isLate = false,
): Soon<Response> {
  if (!(response instanceof Response)) {
    const what = Array.isArray(response) ? 'a list' : `a value of type ${typeof response}`
    throw new TypeError(
      `${request.method} ${request.route}: a guard, handler or onError returned ${what}. Return a Response, for example Response.json(value); guards and handlers may also return nothing.`,
    )
  }
  const own = request.method === 'HEAD' ? copyOf(response, null) : response
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
