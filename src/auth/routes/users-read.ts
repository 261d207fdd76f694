/**
 * `GET /users/:id`.
 *
 * @module
 */

import { entryNotFound } from '../../http/refusals.ts'
import type { ApiRequest } from '../../http/request.ts'
import { valueResponse } from '../../http/respond.ts'
import { projected } from '../../model/present.ts'
import { requestedId } from '../../records/rules/record-id.ts'
import { isAdmin } from '../guards.ts'
import type { Realm } from '../instance/instance.ts'
import { shownUser, userById } from '../instance/user.ts'
import type { AuthRoute } from './route.ts'

/** The row of `getUser`. */
export const getUserRoute: AuthRoute<'getUser'> = {
  name: 'getUser',
  method: 'GET',
  path: '/users/:id',
  access: 'signed in',
  handler: (realm) => (request) => getUser(realm, request),
}

/** One user; others than himself and admins see what `visibleFields` names. */
async function getUser(realm: Realm, request: ApiRequest): Promise<Response> {
  const id = requestedId(realm.settings, request)
  const user = await userById(realm, id)
  if (!user) throw entryNotFound()
  const { visibleFields } = realm.settings
  const whole = !visibleFields || isSelf(request, id) || isAdmin(realm, request)
  const seen = whole ? user : projected(user, { include: visibleFields })
  return valueResponse(shownUser(realm, seen))
}

/** Whether the signed-in user is the one with `id`. */
export function isSelf(request: ApiRequest, id: string): boolean {
  return request.auth?.userId === id
}
