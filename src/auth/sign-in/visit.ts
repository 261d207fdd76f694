/**
 * When and how the bearer of a token has signed in.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import type { Fields } from '../../ports/store.ts'
import type { Users } from '../users/users.ts'
import type { Sessions } from './sessions.ts'

/** A sign-in, or the confirmation after it. In epoch milliseconds. */
export interface Visit {
  /** When any factor was last shown. */
  readonly at: number
  /** When a second factor was last shown; undefined if none was. */
  readonly strongAt: number | undefined
}

const RECENT_MS = 10 * 60_000

/** Whether something was a short time ago. */
export function isRecent({ now }: Pick<Users, 'now'>, at: number | undefined): boolean {
  return at !== undefined && at > now() - RECENT_MS
}

/**
 * The visit of a signed-in request of `user`: that of its session, or without sessions that of its token. Undefined for a
 * token of another service, which may come from a refresh, and for an API key.
 */
export function visitOf(
  { sessions }: { readonly sessions: Sessions },
  user: Fields,
  { auth }: ApiRequest,
): Visit | undefined {
  const { sid, iat, jti, mfa } = auth?.claims ?? {}
  const session = sessions.of(user).find(({ id }) => id === sid)
  if (session) {
    const { createdAt, confirmedAt = createdAt, strongAt } = session
    return { at: confirmedAt.getTime(), strongAt: strongAt?.getTime() }
  }
  if (jti === undefined) return undefined
  return { at: Number(iat) * 1000, strongAt: typeof mfa === 'number' ? mfa * 1000 : undefined }
}
