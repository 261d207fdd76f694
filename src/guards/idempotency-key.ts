/**
 * What an idempotency key is, what it belongs to, and which request it was sent with.
 *
 * @module
 */

import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
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

/** A digest of whose key it is, and for what: the user, the method and the URL. 24 hexadecimal digits, as an id. */
export function placeOf(request: ApiRequest, key: string): string {
  const { auth, headers, method, url } = request
  // Somebody else must not get the response. Before the guard that authenticates, only the credentials tell users apart.
  const who = auth
    ? [auth.userId]
    : ['authorization', 'cookie', 'x-api-key'].map((name) => headers.get(name))
  const path = pathOf(url)
  const query = url.slice(url.indexOf(path) + path.length)
  return bytesToHex(sha256(utf8ToBytes(JSON.stringify([who, method, path, query, key])))).slice(
    0,
    24,
  )
}

/**
 * A digest of the body, which must be the same when a request is repeated. Of a form with files only its media type
 * counts: it is not read into memory, and each time it is sent with other boundaries. Throws as reading a body does.
 */
export async function fingerprintOf(request: ApiRequest): Promise<string> {
  const [type = ''] = (request.headers.get('content-type') ?? '').toLowerCase().split(';')
  const isForm = type.trim() === 'multipart/form-data'
  const body = isForm ? new Uint8Array() : new Uint8Array(await request.clone().arrayBuffer())
  return `${type.trim()} ${bytesToHex(sha256(body))}`
}
