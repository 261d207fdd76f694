/**
 * `GET /me`.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import { valueResponse } from '../../http/respond.ts'
import type { AuthInstance } from '../instance/instance.ts'
import { shownUser, userById } from '../instance/user.ts'
import { invalidToken } from '../refusals.ts'
import type { AuthRoute } from './route.ts'

/** The route `me`. */
export const meRoute: AuthRoute<'me'> = {
  name: 'me',
  method: 'GET',
  path: '/me',
  access: 'signed in',
  handler: (auth) => (request) => me(auth, request),
}

/** The signed-in user. */
async function me(auth: AuthInstance, request: ApiRequest): Promise<Response> {
  // `requireAuth` has just read it. If tokens alone decide, `request.user` was set by some middleware.
  const user = auth.settings.token.invalidateOnPasswordChange
    ? request.user
    : await userById(auth, String(request.auth?.userId))
  if (!user) throw invalidToken()
  return valueResponse(shownUser(auth, user))
}
