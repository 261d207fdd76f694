/**
 * The `res` of hooks: what they may set on a successful response.
 *
 * @module
 */

/** What a `validate` hook may set on a successful response. */
export interface HookResponse {
  status: number | undefined
  readonly headers: Headers
}

const WITHOUT_BODY: readonly number[] = [204, 205, 304]

/** A `res` on which nothing is set. */
export function hookResponse(): HookResponse {
  return { status: undefined, headers: new Headers() }
}

/** Throws for a status that no response can have, before anything is written. */
export function checkStatus({ status }: HookResponse): void {
  if (status === undefined) return
  if (!Number.isInteger(status) || status < 200 || status > 599) {
    throw new TypeError(
      `a validate hook set res.status to ${String(status)}; it must be from 200 to 599`,
    )
  }
}

/** `response` with what a hook has set on `res`. */
export function withHookResponse(response: Response, res: HookResponse): Response {
  const { headers } = response
  for (const name of res.headers.keys()) headers.delete(name)
  for (const [name, value] of res.headers) headers.append(name, value)
  if (res.status === undefined || res.status === response.status) return response
  const body = WITHOUT_BODY.includes(res.status) ? null : response.body
  return new Response(body, { status: res.status, headers })
}
