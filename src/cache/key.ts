/** Keys of cached responses: equal only for requests that mean the same and may share a response. */

import { hexDigestOf } from '#hmac'
import type { ApiRequest, Query } from '../http/request/request.ts'
import type { Vary } from './options.ts'

/** What a read asks for, regardless of the user. */
export interface ReadRequest {
  /** GET of a list, QUERY of one, or GET of one record. */
  readonly kind: 'list' | 'query' | 'one'
  readonly path: string
  /** The parameters that the response may depend on. */
  readonly query: Query
  readonly body?: unknown
}

/** Longer keys are hashed: a QUERY body may have a megabyte. */
const MAX_LENGTH = 512

/** `value` as a string that differs whenever the values differ: JSON keeps strings, numbers and lists apart. */
export function keyText(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length <= MAX_LENGTH ? text : hexDigestOf(text)
}

/** The read as a JSON value: parameters sorted by name, members of the body sorted by name, lists in their own order. */
export function requestKey({ kind, path, query, body }: ReadRequest): unknown {
  const parameters = Object.keys(query)
    .sort()
    .map((name) => [name, query[name]])
  return [kind, path, parameters, sortMembers(body)]
}

/**
 * Who asks, as a JSON value; undefined if that is unknown, so that the response must not be kept. If no guard has read
 * the credentials, a hook may still depend on them.
 */
export function audienceOf(request: ApiRequest): unknown {
  if (isUnread(request)) return undefined
  const { auth, headers } = request
  if (!auth) return headers.has('cookie') ? undefined : null
  const { userId, role = null } = auth
  const usable = typeof userId === 'string' && userId !== ''
  return usable ? [userId, role] : undefined
}

/** The same as the app's own function says; undefined too if it fails. */
export async function chosenAudience(request: ApiRequest, vary: Vary): Promise<unknown> {
  if (isUnread(request)) return undefined
  try {
    const value: unknown = await vary(request)
    const usable = ['string', 'boolean'].includes(typeof value) || Number.isFinite(value)
    return usable ? [value] : undefined
  } catch {
    return undefined
  }
}

/** Whether there are credentials that no guard has read. */
function isUnread({ auth, headers }: ApiRequest): boolean {
  return !auth && headers.has('authorization')
}

function sortMembers(value: unknown): unknown {
  // JSON may contain numbers too large for a double; they parse to Infinity, which would be written as `null`.
  if (value === Infinity || value === -Infinity) return { number: String(value) }
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(sortMembers)
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return { members: members.map(([name, member]) => [name, sortMembers(member)]) }
}
