/**
 * `GET /me`.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import { valueResponse } from '../../http/respond.ts'
import { type Realm, shownUser, userById } from '../instance/instance.ts'
import { invalidToken } from '../refusals.ts'

/** The signed-in user. */
export async function me(realm: Realm, request: ApiRequest): Promise<Response> {
  // `requireAuth` has just read it; where tokens alone decide, what stands there is a middleware's.
  const user = realm.settings.token.invalidateOnPasswordChange
    ? request.user
    : await userById(realm, String(request.auth?.userId))
  if (!user) throw invalidToken()
  return valueResponse(shownUser(realm, user))
}
