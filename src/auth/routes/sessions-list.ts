/**
 * `GET /sessions`.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import { dataResponse } from '../../http/respond.ts'
import type { AuthInstance } from '../instance/instance.ts'
import { userById } from '../instance/user.ts'
import { invalidToken } from '../refusals.ts'
import type { RefreshSettings } from '../setup/refresh-settings.ts'
import { endOf, isOver, sessionsOf } from '../sign-in/sessions.ts'
import type { AuthRoute } from './route.ts'

/** The route `listSessions`. */
export const listSessionsRoute: AuthRoute<'listSessions'> = {
  name: 'listSessions',
  method: 'GET',
  path: '/sessions',
  access: 'signed in',
  needs: 'refresh',
  handler: (auth, sessions) => (request) => listSessions(auth, sessions, request),
}

/** The sessions of the signed-in user that can still be used, the newest first. */
async function listSessions(
  auth: AuthInstance,
  refresh: RefreshSettings,
  request: ApiRequest,
): Promise<Response> {
  const user = await userById(auth, String(request.auth?.userId))
  if (!user) throw invalidToken()
  const live = sessionsOf(auth, user).filter((session) => !isOver(auth, refresh, session))
  // Stored in the order of the sign-ins, which orders those of the same instant.
  const newestFirst = live.reverse().sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime())
  const sessions = newestFirst.map((session) => ({
    id: session.id,
    createdAt: session.createdAt,
    lastUsedAt: session.lastUsedAt,
    expiresAt: new Date(endOf(refresh, session)),
    current: session.id === request.auth?.claims?.sid,
  }))
  return dataResponse(JSON.stringify(sessions))
}
