/** A call of a route of your own. It is loaded when it is used. */

import type { AnyOptions } from './calls.ts'
import type { Given } from './given.ts'
import type { Result } from './results.ts'

export async function called(
  at: string,
  [route, { params, query, body, headers, idempotencyKey, ...options } = {}]: [string, AnyOptions?],
  { call, send, bodyOf, json, inPath }: Given,
): Promise<Result<unknown, object>> {
  /** Values as JSON has them: dates are strings. */
  const asWritten = (values: object = {}): Record<string, unknown> => JSON.parse(json(values))
  const [method = '', pattern = ''] = route.split(' ')
  // Behind the client's URL, anything else could be the rest of another host's name.
  if (pattern && pattern[0] !== '/') throw new TypeError(`'${route}' must be a method and a path`)
  const values = asWritten(params)
  // One that may have several parts keeps its slashes; what `*` stands for is `rest`.
  const path = pattern.replace(/\/(?::(\w+)([?+]?)|\*|$)/g, (whole, name = 'rest', mark = '+') => {
    const value = values[name]
    if (whole === '/' || (value === undefined && mark === '?')) return ''
    return `/${(mark === '+' ? `${value ?? ''}`.split('/') : [value]).map((part) => inPath(part as string)).join('/')}`
  })
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(asWritten(query))) {
    // A list is sent as one for each of its values.
    for (const one of Array.isArray(value) ? value : [value]) search.append(name, one)
  }
  const answer = await call.ask({
    ...options,
    method,
    // Not every browser knows its size.
    path: at + path + (`${search}` && `?${search}`),
    body: body === undefined ? undefined : await bodyOf(body as never),
    headers: { ...headers, 'Idempotency-Key': idempotencyKey },
  })
  const { body: isOurs, status, text } = answer
  if (isOurs || status < 200 || status > 299) return send.shown(answer)
  // Routes of your own may send anything.
  return { ok: true, data: await new Response(text).json().catch(() => text) }
}
