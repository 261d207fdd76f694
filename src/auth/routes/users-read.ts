/**
 * `GET /users/:id`.
 *
 * @module
 */

import { entryNotFound } from '../../http/refusals.ts'
import type { ApiRequest } from '../../http/request.ts'
import { valueResponse } from '../../http/respond.ts'
import { requestedId } from '../../records/rules/record-id.ts'
import { isAdmin } from '../guards.ts'
import type { AuthInstance } from '../instance/instance.ts'
import { shownUser, userById } from '../instance/user.ts'
import type { AuthRoute } from './route.ts'

/** The route `getUser`. */
export const getUserRoute: AuthRoute<'getUser'> = {
  name: 'getUser',
  method: 'GET',
  path: '/users/:id',
  access: 'signed in',
  handler: (auth) => (request) => getUser(auth, request),
}

/** One user; other users than themselves and admins see only the `visibleFields`. */
async function getUser(auth: AuthInstance, request: ApiRequest): Promise<Response> {
  const id = requestedId(auth.settings, request)
  const user = await userById(auth, id)
  if (!user) throw entryNotFound()
  const { visibleFields } = auth.settings
  const whole = !visibleFields || isSelf(request, id) || isAdmin(auth, request)
  return valueResponse(shownUser(auth, user, whole ? undefined : { include: visibleFields }))
}

/** Whether the signed-in user is the one with `id`. */
export function isSelf(request: ApiRequest, id: string): boolean {
  return request.auth?.userId === id
}
