/**
 * `GET /me`.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import { valueResponse } from '../../http/respond.ts'
import type { Realm } from '../instance/instance.ts'
import { shownUser, userById } from '../instance/user.ts'
import { invalidToken } from '../refusals.ts'
import type { AuthRoute } from './route.ts'

/** The row of `me`. */
export const meRoute: AuthRoute<'me'> = {
  name: 'me',
  method: 'GET',
  path: '/me',
  access: 'signed in',
  handler: (realm) => (request) => me(realm, request),
}

/** The signed-in user. */
async function me(realm: Realm, request: ApiRequest): Promise<Response> {
  // `requireAuth` has just read it; where tokens alone decide, what stands there is a middleware's.
  const user = realm.settings.token.invalidateOnPasswordChange
    ? request.user
    : await userById(realm, String(request.auth?.userId))
  if (!user) throw invalidToken()
  return valueResponse(shownUser(realm, user))
}
