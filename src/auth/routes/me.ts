/**
 * `GET /me`.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import { dataResponse } from '../../http/respond.ts'
import { type Realm, shownUser, userById } from '../realm.ts'
import { invalidToken } from '../refusals.ts'

/** The signed-in user. */
export async function me(realm: Realm, request: ApiRequest): Promise<Response> {
  // `requireAuth` has read it, but where tokens alone decide.
  const user = request.user ?? (await userById(realm, String(request.auth?.userId)))
  if (!user) throw invalidToken()
  return dataResponse(JSON.stringify(shownUser(realm, user)))
}
