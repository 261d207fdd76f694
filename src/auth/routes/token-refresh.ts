/**
 * `POST /token/refresh`.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import { idsOf } from '../../http/request-ids.ts'
import { valueResponse } from '../../http/respond.ts'
import { idFrom } from '../../model/cast.ts'
import { withId } from '../../ports/filter.ts'
import type { Fields } from '../../ports/store.ts'
import { credential, readBody } from '../accounts/credentials.ts'
import type { AuthInstance } from '../instance/instance.ts'
import { isDisabled, userById } from '../instance/user.ts'
import { invalidRefreshToken, sessionInUse } from '../refusals.ts'
import type { RefreshSettings } from '../setup/refresh-settings.ts'
import { endSessionsOfDisabled } from '../sign-in/disabled.ts'
import { type Presented, presentedToken } from '../sign-in/presented.ts'
import { isOver, oneEnded, type Session, sessionsEnded, sessionsOf } from '../sign-in/sessions.ts'
import { signInData } from '../sign-in/sign-in.ts'
import { report } from '../visit/security-events.ts'
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
  handler: (auth, sessions) => (request) => refresh(auth, sessions, request),
}

/** Returns a new access token, and with rotation a new refresh token. */
async function refresh(
  auth: AuthInstance,
  settings: RefreshSettings,
  request: ApiRequest,
): Promise<Response> {
  const body = await readBody(auth, request)
  const token = presentedToken(auth, settings, credential(body, 'refreshToken'))
  if (!token) throw invalidRefreshToken()
  const { user, session } = await exchanged(auth, settings, token, request)
  const next = token.successor(session)
  if (next === undefined) throw invalidRefreshToken()
  const data = signInData(auth, user, { token: next, entry: session })
  return valueResponse(data)
}

/** The outcome of a refresh. */
interface Refreshed {
  readonly user: Fields
  readonly session: Session
}

/** The user and the session after the refresh; a compare-and-set is repeated while other writes overtake it. */
async function exchanged(
  auth: AuthInstance,
  settings: RefreshSettings,
  token: Presented,
  request: ApiRequest,
): Promise<Refreshed> {
  const id = idFrom(token.userId, auth.settings.model.idType)
  if (id === undefined) throw invalidRefreshToken()
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const done = await tryExchange(auth, settings, token, id, request)
    if (done) return done
  }
  throw sessionInUse()
}

/** One try; undefined if another write came first. Throws a 401. */
async function tryExchange(
  auth: AuthInstance,
  settings: RefreshSettings,
  token: Presented,
  id: string,
  request: ApiRequest,
): Promise<Refreshed | undefined> {
  const { engine, names } = auth
  const user = await userById(auth, id)
  if (!user) throw invalidRefreshToken()
  const sessions = sessionsOf(auth, user)
  const session = sessions.find((entry) => entry.id === token.sessionId)
  const standing = session ? token.standing(session) : 'unknown'
  // Anyone can write such a token, so it changes nothing.
  if (!session || standing === 'unknown') throw invalidRefreshToken()
  if (isDisabled(auth, user)) {
    await endSessionsOfDisabled(auth, user)
    throw invalidRefreshToken()
  }
  if (isOver(auth, settings, session)) throw invalidRefreshToken()
  if (standing === 'graced') return { user, session }
  if (standing === 'reused') {
    await revoke(auth, settings, id, session, request)
    report(auth, request, 'token-reused', id)
    throw invalidRefreshToken()
  }
  const next = token.after(session)
  const updated = await engine.stored.update(
    withId(id),
    { set: { [names.refreshTokens]: sessions.map((entry) => (entry === session ? next : entry)) } },
    { expect: { [names.refreshTokens]: user[names.refreshTokens] } },
  )
  return updated && !isDisabled(auth, updated) ? { user: updated, session: next } : undefined
}

/** A token that was replaced long ago is used: one of its two holders is a thief (RFC 9700 §4.14.2). */
async function revoke(
  auth: AuthInstance,
  settings: RefreshSettings,
  id: string,
  session: Session,
  request: ApiRequest,
): Promise<void> {
  const { engine, host } = auth
  host.logger.warn('a refresh token was used again', {
    ...idsOf(request),
    userId: id,
    sessionId: session.id,
  })
  await engine.stored.update(
    withId(id),
    settings.revokeAllOnReuse ? { set: sessionsEnded(auth) } : oneEnded(auth, session.id),
  )
}
