/**
 * The `res` of hooks: what they may set on a successful answer.
 *
 * @module
 */

import type { HookResponse } from './hooks.ts'

/** A `res` on which nothing has been set. */
export function hookResponse(): HookResponse {
  return { status: undefined, headers: new Headers() }
}

/** `response` with what a hook has set on `res`. */
export function withHookResponse(response: Response, res: HookResponse): Response {
  for (const [name, value] of res.headers) response.headers.append(name, value)
  if (res.status === undefined || res.status === response.status) return response
  return new Response(response.body, { status: res.status, headers: response.headers })
}
