/**
 * The routes of sessions: `POST /logout`, `POST /logout/all`, `GET /sessions`, `DELETE /sessions/:id` and
 * `DELETE /users/:id/sessions`.
 *
 * @module
 */

import { entryNotFound } from '../../http/refusals.ts'
import type { ApiRequest } from '../../http/request.ts'
import { dataResponse, messageResponse } from '../../http/respond.ts'
import { requestedId } from '../../records/rules/record-id.ts'
import { credential, readBody } from '../accounts/credentials.ts'
import type { AuthInstance } from '../instance.ts'
import { invalidToken } from '../refusals.ts'
import type { RefreshTokenState, RefreshTokens } from '../sign-in/refresh-token-state.ts'
import type { AuthRoute } from './route.ts'

/** Ends one session. The response is the same for every token. */
export const logoutRoute: AuthRoute<'logout'> = {
  name: 'logout',
  method: 'POST',
  path: '/logout',
  access: 'anyone',
  needs: 'refresh',
  handler: (auth) => (request) => logout(auth, request),
}

/** Ends every session of the user. */
export const logoutAllRoute: AuthRoute<'logoutAll'> = {
  name: 'logoutAll',
  method: 'POST',
  path: '/logout/all',
  access: 'signed in',
  needs: 'refresh',
  handler: (auth) => async (request) => {
    const id = String(request.auth?.userId)
    await auth.sessions.endAll(id)
    auth.report(request, 'session-ended', id)
    return messageResponse('Signed out everywhere.')
  },
}

/** The sessions of the signed-in user. */
export const listSessionsRoute: AuthRoute<'listSessions'> = {
  name: 'listSessions',
  method: 'GET',
  path: '/sessions',
  access: 'signed in',
  needs: 'refresh',
  handler: (auth, refresh) => (request) => listSessions(auth, refresh, request),
}

/** Ends one session of the signed-in user, and the tokens that belong to it. */
export const endSessionRoute: AuthRoute<'endSession'> = {
  name: 'endSession',
  method: 'DELETE',
  path: '/sessions/:id',
  access: 'signed in',
  needs: 'refresh',
  handler:
    ({ users, sessions, report }, refresh) =>
    async (request) => {
      const id = String(request.auth?.userId)
      const user = await users.byId(id)
      const session = user && refresh.live(user, request.params.id)
      if (!session) throw entryNotFound()
      await sessions.end(id, session.id)
      report(request, 'session-ended', id)
      return messageResponse('Signed out.')
    },
}

/** Ends every session of a user; for admins. */
export const endUserSessionsRoute: AuthRoute<'endUserSessions'> = {
  name: 'endUserSessions',
  method: 'DELETE',
  path: '/users/:id/sessions',
  access: 'admin',
  needs: 'refresh',
  handler:
    ({ settings, sessions, report }) =>
    async (request) => {
      const id = requestedId(settings, request)
      if (!(await sessions.endAll(id))) throw entryNotFound()
      report(request, 'session-ended', id)
      return messageResponse('Signed out everywhere.')
    },
}

/** The states of a token that may end its session. */
const MAY_END: readonly RefreshTokenState[] = ['current', 'graced']

async function logout(
  { host, users, sessions, readRefreshToken, report }: AuthInstance,
  request: ApiRequest,
): Promise<Response> {
  const body = await readBody(host, request)
  const token = readRefreshToken(credential(body, 'refreshToken'))
  const user = token && (await users.byToken(token.userId))
  const session = user && sessions.of(user).find(({ id }) => id === token.sessionId)
  if (session && MAY_END.includes(token.stateIn(session))) {
    const id = String(user._id)
    await sessions.end(id, session.id)
    report(request, 'session-ended', id)
  }
  return messageResponse('Signed out.')
}

/** Those that can still be used, the newest first. */
async function listSessions(
  { users, sessions }: AuthInstance,
  refresh: RefreshTokens,
  request: ApiRequest,
): Promise<Response> {
  const user = await users.byId(request.auth?.userId)
  if (!user) throw invalidToken()
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
