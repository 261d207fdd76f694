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
import type { AuthInstance } from '../instance.ts'
import { invalidToken } from '../refusals.ts'

/** The signed-in user. */
export async function me(
  { users, settings }: AuthInstance,
  request: ApiRequest,
): Promise<Response> {
  // `requireAuth` has just read it. If tokens alone decide, `request.user` was set by some middleware.
  const user = settings.token.invalidateOnPasswordChange
    ? request.user
    : await users.byId(request.auth?.userId)
  if (!user) throw invalidToken()
  return valueResponse(users.shown(user))
}

/** One user; other users than themselves and admins see only the `visibleFields`. */
export async function getUser(
  { users, settings }: AuthInstance,
  request: ApiRequest,
): Promise<Response> {
  const id = requestedId(settings, request)
  const user = await users.byId(id)
  if (!user) throw entryNotFound()
  const { visibleFields, roles } = settings
  const seesAll = !visibleFields || isSelf(request, id) || isAdmin(roles, request)
  return valueResponse(users.shown(user, seesAll ? undefined : { include: visibleFields }))
}

/** Whether the signed-in user is the one with `id`. */
export function isSelf(request: ApiRequest, id: string): boolean {
  return request.auth?.userId === id
}
