/**
 * `POST /token/refresh`.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import { idsOf } from '../../http/request-ids.ts'
import { valueResponse } from '../../http/respond.ts'
import type { Fields } from '../../ports/store.ts'
import { credential, readBody } from '../accounts/credentials.ts'
import type { AuthInstance } from '../instance.ts'
import { invalidRefreshToken, sessionInUse } from '../refusals.ts'
import { signInData } from '../sign-in/open-session.ts'
import type { RefreshTokens, SentToken } from '../sign-in/refresh-token-state.ts'
import type { Session } from '../sign-in/sessions.ts'
import type { AuthRoute } from './route.ts'

/** Parallel refreshes of one user overtake each other; in each round one of them wins. */
const MAX_TRIES = 100

/** The route `refresh`. */
export const refreshRoute: AuthRoute<'refresh'> = {
  name: 'refresh',
  method: 'POST',
  path: '/token/refresh',
  access: 'anyone',
  needs: 'refresh',
  handler: (auth, tokens) => (request) => refresh(auth, tokens, request),
}

/** Returns a new access token, and with rotation a new refresh token. */
async function refresh(
  auth: AuthInstance,
  tokens: RefreshTokens,
  request: ApiRequest,
): Promise<Response> {
  const body = await readBody(auth.host, request)
  const token = auth.readRefreshToken(credential(body, 'refreshToken'))
  if (!token) throw invalidRefreshToken()
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const refreshed = await tryRefresh(auth, tokens, token, request)
    if (!refreshed) continue
    const { user, session } = refreshed
    const next = token.successorIn(session)
    if (next === undefined) throw invalidRefreshToken()
    return valueResponse(signInData(auth, user, { token: next, entry: session }))
  }
  throw sessionInUse()
}

/** The user and the session after a compare-and-set; undefined if another write came first. Throws a 401. */
async function tryRefresh(
  auth: AuthInstance,
  tokens: RefreshTokens,
  token: SentToken,
  request: ApiRequest,
): Promise<{ readonly user: Fields; readonly session: Session } | undefined> {
  const { users, sessions } = auth
  const user = await users.byToken(token.userId)
  const list = user ? sessions.of(user) : []
  const session = list.find(({ id }) => id === token.sessionId)
  const state = session ? token.stateIn(session) : 'unknown'
  // Anyone can write such a token, so it changes nothing.
  if (!user || !session || state === 'unknown') throw invalidRefreshToken()
  if (users.isDisabled(user)) {
    await sessions.endThoseOfDisabled(user)
    throw invalidRefreshToken()
  }
  if (tokens.isOver(session)) throw invalidRefreshToken()
  if (state === 'graced') return { user, session }
  if (state === 'reused') {
    await revoke(auth, tokens, String(user._id), session.id, request)
    throw invalidRefreshToken()
  }
  const next = token.refreshed(session)
  const { field } = sessions
  const set = { [field]: list.map((each) => (each === session ? next : each)) }
  const after = await users.update(user._id, { set }, { [field]: user[field] })
  return after && !users.isDisabled(after) ? { user: after, session: next } : undefined
}

/** A token that was replaced long ago is used: one of its two holders is a thief (RFC 9700 §4.14.2). */
async function revoke(
  { logger, sessions, report }: AuthInstance,
  { settings }: RefreshTokens,
  userId: string,
  sessionId: string,
  request: ApiRequest,
): Promise<void> {
  logger.warn('a refresh token was used again', { ...idsOf(request), userId, sessionId })
  if (settings.revokeAllOnReuse) await sessions.endAll(userId)
  else await sessions.end(userId, sessionId)
  report(request, 'token-reused', userId)
}
