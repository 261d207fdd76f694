/**
 * `GET /me` and `GET /users/:id`.
 *
 * @module
 */

import { entryNotFound } from '../../http/refusals.ts'
import type { ApiRequest } from '../../http/request.ts'
import { valueResponse } from '../../http/respond.ts'
import { requestedId } from '../../records/rules/record-id.ts'
import { isAdmin } from '../guards.ts'
import { invalidToken } from '../refusals.ts'
import type { AuthRoute } from './route.ts'

/** The signed-in user. */
export const meRoute: AuthRoute<'me'> = {
  name: 'me',
  method: 'GET',
  path: '/me',
  access: 'signed in',
  handler:
    ({ users, settings }) =>
    async (request) => {
      // `requireAuth` has just read it. If tokens alone decide, `request.user` was set by some middleware.
      const user = settings.token.invalidateOnPasswordChange
        ? request.user
        : await users.byId(request.auth?.userId)
      if (!user) throw invalidToken()
      return valueResponse(users.shown(user))
    },
}

/** One user; other users than themselves and admins see only the `visibleFields`. */
export const getUserRoute: AuthRoute<'getUser'> = {
  name: 'getUser',
  method: 'GET',
  path: '/users/:id',
  access: 'signed in',
  handler:
    ({ users, settings }) =>
    async (request) => {
      const id = requestedId(settings, request)
      const user = await users.byId(id)
      if (!user) throw entryNotFound()
      const { visibleFields, roles } = settings
      const seesAll = !visibleFields || isSelf(request, id) || isAdmin(roles, request)
      return valueResponse(users.shown(user, seesAll ? undefined : { include: visibleFields }))
    },
}

/** Whether the signed-in user is the one with `id`. */
export function isSelf(request: ApiRequest, id: string): boolean {
  return request.auth?.userId === id
}
