/** The routes of sessions: how they are seen, refreshed and ended. */

import { entryNotFound } from '../../http/errors/refusals.ts'
import { dataResponse, messageResponse, valueResponse } from '../../http/response/respond.ts'
import { idsOf } from '../../ports/services/logger.ts'
import type { Fields } from '../../ports/store/records.ts'
import { requestedId } from '../../records/read/read.ts'
import { credential, readBody } from '../accounts/credentials.ts'
import { type AuthRequest, type OwnMethod, route } from '../instance/instance.ts'
import { RefreshTokens, type SentToken, type Session } from '../instance/sessions.ts'
import { replacing } from '../instance/users.ts'
import * as refuse from '../refusals.ts'
import { report } from '../request-info.ts'
import { signInData } from '../sign-in.ts'

const OPTION = { needs: 'refresh' } as const

/** The option `refresh`. */
export const sessionRoutes: OwnMethod = {
  RefreshTokens,
  routes: [
    route('refresh', 'POST /token/refresh', 'anyone', refresh, OPTION),
    route('logout', 'POST /logout', 'anyone', logout, OPTION),
    route('logoutAll', 'POST /logout/all', 'signed in', logoutAll, OPTION),
    route('listSessions', 'GET /sessions', 'signed in', listSessions, OPTION),
    route('endSession', 'DELETE /sessions/:id', 'signed in', endSession, OPTION),
    route('endUserSessions', 'DELETE /users/:id/sessions', 'admin', endUserSessions, OPTION),
  ],
}

async function logoutAll(auth: AuthRequest): Promise<Response> {
  const id = String(auth.request.auth?.userId)
  await auth.sessions.endAll(id)
  report(auth, 'session-ended', id)
  return messageResponse('Signed out everywhere.')
}

/** Ends one session of the signed-in user, and the tokens that belong to it. */
async function endSession(auth: AuthRequest): Promise<Response> {
  const { users, sessions, refresh, request } = auth
  const id = String(request.auth?.userId)
  const user = await users.byId(id)
  const session = user && refresh?.live(user, request.params.id)
  if (!session) throw entryNotFound()
  await sessions.end(id, session.id)
  report(auth, 'session-ended', id)
  return messageResponse('Signed out.')
}

async function endUserSessions(auth: AuthRequest): Promise<Response> {
  const id = requestedId(auth.settings, auth.request)
  if (!(await auth.sessions.endAll(id))) throw entryNotFound()
  report(auth, 'session-ended', id)
  return messageResponse('Signed out everywhere.')
}

/** The refresh token that a client sends: one of ours, or of another service if that is accepted. */
async function tokenIn(auth: AuthRequest): Promise<SentToken | undefined> {
  const { accepted, refresh } = auth
  const text = credential(await readBody(auth), 'refreshToken')
  return accepted?.refreshToken ? accepted.refreshToken(text) : refresh?.read(text)
}

/** Ends one session. The response is the same for every token. */
async function logout(auth: AuthRequest): Promise<Response> {
  const { users, sessions } = auth
  const token = await tokenIn(auth)
  const user = token && (await users.byToken(token.userId))
  const session = user && sessions.of(user).find(({ id }) => id === token.sessionId)
  if (session && ['current', 'graced'].includes(token.stateIn(session))) {
    const id = String(user._id)
    await sessions.end(id, session.id)
    report(auth, 'session-ended', id)
  }
  return messageResponse('Signed out.')
}

/** Those that can still be used, the newest first. */
async function listSessions(auth: AuthRequest): Promise<Response> {
  const { users, sessions, request } = auth
  const refresh = auth.refresh as RefreshTokens
  const user = await users.byId(request.auth?.userId)
  if (!user) throw refuse.invalidToken()
  const live = sessions.of(user).filter((session) => !refresh.isOver(session))
  // Stored in the order of the sign-ins, which orders those of the same instant.
  const newestFirst = live.reverse().sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime())
  const shown = newestFirst.map((session) => ({
    id: session.id,
    createdAt: session.createdAt,
    lastUsedAt: session.lastUsedAt,
    expiresAt: new Date(refresh.endOf(session)),
    current: session.id === request.auth?.claims?.sid,
  }))
  return dataResponse(JSON.stringify(shown))
}

/** Parallel refreshes of one user overtake each other; in each round one of them wins. */
const MAX_TRIES = 100

async function refresh(auth: AuthRequest): Promise<Response> {
  const token = await tokenIn(auth)
  if (!token) throw refuse.invalidRefreshToken()
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const refreshed = await tryRefresh(auth, token)
    if (!refreshed) continue
    const { user, session } = refreshed
    const next = token.successorIn(session)
    if (next === undefined) throw refuse.invalidRefreshToken()
    return valueResponse(signInData(auth, user, { token: next, entry: session }))
  }
  throw refuse.sessionInUse()
}

/** The user and the session after a compare-and-set; undefined if another write came first. Throws a 401. */
async function tryRefresh(
  auth: AuthRequest,
  token: SentToken,
): Promise<{ readonly user: Fields; readonly session: Session } | undefined> {
  const { users, sessions, refresh: tokens } = auth
  const user = await users.byToken(token.userId)
  const list = user ? sessions.of(user) : []
  const session = list.find(({ id }) => id === token.sessionId)
  const state = session ? token.stateIn(session) : 'unknown'
  // Anyone can write such a token, so it changes nothing.
  if (!user || !session || state === 'unknown') throw refuse.invalidRefreshToken()
  if (users.isDisabled(user)) {
    await sessions.endThoseOfDisabled(user)
    throw refuse.invalidRefreshToken()
  }
  // A version without sessions changes a password and ends none.
  const isFormer = session.createdAt.getTime() < users.changedAt(user)
  if (!tokens || isFormer || tokens.isOver(session)) throw refuse.invalidRefreshToken()
  if (state === 'graced') return { user, session }
  if (state === 'reused') {
    await revoke(auth, String(user._id), session.id)
    throw refuse.invalidRefreshToken()
  }
  const next = token.refreshed(session)
  const refreshed = list.map((each) => (each === session ? next : each))
  const after = await users.update(user._id, replacing(user, sessions.field, refreshed))
  return after && !users.isDisabled(after) ? { user: after, session: next } : undefined
}

/** A token that was replaced long ago is used: one of its two holders is a thief (RFC 9700 §4.14.2). */
async function revoke(auth: AuthRequest, userId: string, sessionId: string): Promise<void> {
  const { logger, sessions, request, refresh: tokens } = auth
  logger.warn('a refresh token was used again', { ...idsOf(request), userId, sessionId })
  if (tokens?.settings.revokeAllOnReuse) await sessions.endAll(userId)
  else await sessions.end(userId, sessionId)
  report(auth, 'token-reused', userId)
}
