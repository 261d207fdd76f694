/**
 * What an idempotency key is, what it belongs to, and which request it was sent with.
 *
 * @module
 */

import { hexDigestOf } from '#hmac'
import { passedOf } from '../app/guards.ts'
import type { ApiRequest } from '../http/request.ts'
import { pathOf } from '../ports/path-of.ts'
import { malformedKey } from './refusals.ts'

/** A string of RFC 9651, which the draft asks for. */
const QUOTED = /^"((?:[ !#-[\]-~]|\\["\\])+)"$/
/** The same without quotes, which most clients send. */
const BARE = /^[\w.~:+/=-]+$/
const MAX_LENGTH = 255

/** The key that a request carries; undefined if it has none. Throws a 400 if it is malformed. */
export function keyOf(headers: Headers): string | undefined {
  const header = headers.get('idempotency-key')
  if (header === null) return undefined
  const quoted = QUOTED.exec(header)?.[1]?.replace(/\\(.)/g, '$1')
  const key = quoted ?? (BARE.test(header) ? header : undefined)
  if (key === undefined || key.length > MAX_LENGTH) throw malformedKey()
  return key
}

/** What the way of a request adds or changes: no identity, and another one each time. */
const IN_TRANSIT =
  /^(?:accept(?:-.*)?|baggage|cf-.*|connection|content-.*|date|expect|fly-.*|forwarded|host|idempotency-key|keep-alive|priority|sec-.*|sentry-trace|te|trace.*|transfer-encoding|user-agent|via|x-amzn-trace-id|x-b3-.*|x-cloud-trace-context|x-forwarded-.*|x-real-ip|x-request-id)$/

/**
 * Who makes a request: what the guards have found, that is `request.auth`. If they have left nothing there, any header
 * that the client sent may be what a guard or a scope looks at.
 */
function callersOf(request: ApiRequest): unknown {
  const found = [...new Set(passedOf(request).requests.map(({ auth }) => auth?.userId))]
  if (found.some((userId) => userId !== undefined)) return found
  return [...request.headers].filter(([name]) => !IN_TRANSIT.test(name))
}

/** A digest of whose key it is, and for what: the user, the method and the URL. 24 hexadecimal digits, as an id. */
export function placeOf(request: ApiRequest, key: string): string {
  const { method, url } = request
  const who = callersOf(request)
  const path = pathOf(url)
  const query = url.slice(url.indexOf(path) + path.length)
  return hexDigestOf(JSON.stringify([who, method, path, query, key])).slice(0, 24)
}

async function bodyOf(request: ApiRequest): Promise<Uint8Array | string> {
  return passedOf(request).body?.() ?? new Uint8Array(await request.clone().arrayBuffer())
}

/**
 * A digest of the body and of the user's role, which must be the same when a request is repeated. Of a form with files only its media type
 * counts: it is not read into memory, and each time it is sent with other boundaries. Throws as reading a body does.
 */
export async function fingerprintOf(request: ApiRequest): Promise<string> {
  const [type = ''] = (request.headers.get('content-type') ?? '').toLowerCase().split(';')
  const isForm = type.trim() === 'multipart/form-data'
  const body = isForm ? '' : await bodyOf(request)
  // With another role, the user may see other fields of the response.
  const roles = JSON.stringify(passedOf(request).requests.map(({ auth }) => auth?.role ?? null))
  return `${type.trim()} ${hexDigestOf(body)} ${hexDigestOf(roles)}`
}
