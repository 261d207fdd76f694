/**
 * Keys of cached answers: equal only for requests that mean the same and may share an answer.
 *
 * @module
 */

import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { Query } from '../http/query-string.ts'
import type { ApiRequest } from '../http/request.ts'
import type { CacheSettings, Vary } from './options.ts'

/** What a read asks for, beyond who asks. */
export interface Asked {
  /** GET of a list, QUERY of one, or GET of one record. */
  readonly kind: 'list' | 'query' | 'one'
  readonly path: string
  /** The parameters that the answer may depend on. */
  readonly query: Query
  /** The parsed body of a QUERY. */
  readonly body?: unknown
}

/** Longer keys are hashed: a QUERY body may have a megabyte. */
const MAX_LENGTH = 512

/** What the keys of a router's answers start with. */
export function keyStart({ prefix, namespace }: CacheSettings): string {
  return `${prefix}a${JSON.stringify(namespace)}`
}

/** `value` as text that differs wherever the values differ: JSON keeps texts, numbers and lists apart. */
export function keyText(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length <= MAX_LENGTH ? text : bytesToHex(sha256(utf8ToBytes(text)))
}

/** What is asked for as a JSON value: parameters by name, members of the body by name, lists in their order. */
export function askedKey({ kind, path, query, body }: Asked): unknown {
  const parameters = Object.keys(query)
    .sort()
    .map((name) => [name, query[name]])
  return [kind, path, parameters, sorted(body)]
}

/**
 * Who asks, as a JSON value; undefined where nobody can tell, so that the answer must not be kept. Credentials
 * that no guard has looked at may have been looked at by a hook.
 */
export async function audienceOf(request: ApiRequest, vary: Vary | undefined): Promise<unknown> {
  const { auth, headers } = request
  if (!auth && headers.has('authorization')) return undefined
  if (vary) return chosenAudience(request, vary)
  if (!auth) return headers.has('cookie') ? undefined : null
  const { userId, role = null } = auth
  const usable = typeof userId === 'string' && userId !== ''
  return usable ? [userId, role] : undefined
}

async function chosenAudience(request: ApiRequest, vary: Vary): Promise<unknown> {
  try {
    const value: unknown = await vary(request)
    const usable = ['string', 'boolean'].includes(typeof value) || Number.isFinite(value)
    return usable ? [value] : undefined
  } catch {
    return undefined
  }
}

/** A JSON value with the members of its objects in the order of their names. */
function sorted(value: unknown): unknown {
  // JSON text has numbers that no double can hold, and writes what becomes of them as `null`.
  if (value === Infinity || value === -Infinity) return { number: String(value) }
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(sorted)
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return { members: members.map(([name, member]) => [name, sorted(member)]) }
}
