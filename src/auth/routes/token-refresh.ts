/**
 * `POST /token/refresh`.
 *
 * @module
 */

import { HttpError } from '../../http/errors.ts'
import type { ApiRequest } from '../../http/request.ts'
import { dataResponse } from '../../http/respond.ts'
import { idFrom } from '../../model/cast.ts'
import type { Fields } from '../../ports/store.ts'
import { credential, readBody } from '../credentials.ts'
import { isDisabled, type Realm, userById } from '../realm.ts'
import { invalidRefreshToken } from '../refusals.ts'
import {
  genuineToken,
  isOver,
  type RefreshToken,
  refreshed,
  type Session,
  sessionsOf,
  standingOf,
  successorOf,
} from '../sessions.ts'
import type { RefreshSettings } from '../settings.ts'
import { signInData } from '../sign-in.ts'

/** Parallel refreshes of one user outrun each other; each round one of them wins. */
const MAX_TRIES = 100

/** Gives a new access token, and with rotation a new refresh token. */
export async function refresh(
  realm: Realm,
  settings: RefreshSettings,
  request: ApiRequest,
): Promise<Response> {
  const body = await readBody(realm, request)
  const token = genuineToken(realm, credential(body, 'refreshToken'))
  if (!token) throw invalidRefreshToken()
  const { user, session } = await exchanged(realm, settings, token)
  const next = settings.rotate ? successorOf(realm, token) : token
  const data = signInData(realm, user, { token: next.text, entry: session })
  return dataResponse(JSON.stringify(data))
}

/** The user and the session as they are after the refresh: one compare-and-set, repeated while it is outrun. */
async function exchanged(
  realm: Realm,
  settings: RefreshSettings,
  token: RefreshToken,
): Promise<{ user: Fields; session: Session }> {
  const { records, names } = realm
  const id = idFrom(token.userId, realm.settings.model.idType)
  for (let tries = 0; id !== undefined && tries < MAX_TRIES; tries += 1) {
    const user = await userById(realm, id)
    if (!user || isDisabled(realm, user)) throw invalidRefreshToken()
    const sessions = sessionsOf(realm, user)
    const session = sessions.find((entry) => entry.id === token.sessionId)
    if (!session || isOver(realm, settings, session)) throw invalidRefreshToken()
    const standing = standingOf(realm, settings, session, token)
    if (standing === 'graced') return { user, session }
    if (standing === 'reused') {
      await revoke(realm, settings, id, session)
      throw invalidRefreshToken()
    }
    const next = refreshed(realm, settings, session, token)
    const updated = await records.stored.update(
      { op: 'eq', field: '_id', value: id },
      {
        set: { [names.refreshTokens]: sessions.map((entry) => (entry === session ? next : entry)) },
      },
      { expect: { [names.refreshTokens]: user[names.refreshTokens] } },
    )
    if (updated && !isDisabled(realm, updated)) return { user: updated, session: next }
  }
  throw id === undefined
    ? invalidRefreshToken()
    : new HttpError(503, 'The session is in use. Try again shortly.', {
        headers: { 'Retry-After': '1' },
      })
}

/** Somebody has a token that was replaced long ago: one of the two holders is a thief (RFC 9700 §4.14.2). */
async function revoke(
  realm: Realm,
  settings: RefreshSettings,
  id: string,
  session: Session,
): Promise<void> {
  const { records, names, host } = realm
  host.logger.warn('a refresh token was used again', { userId: id, sessionId: session.id })
  await records.stored.update(
    { op: 'eq', field: '_id', value: id },
    settings.revokeAllOnReuse
      ? { set: { [names.refreshTokens]: [] } }
      : { pull: { [names.refreshTokens]: { key: 'id', value: session.id } } },
  )
}
