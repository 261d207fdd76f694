/**
 * `DELETE /users/:id/sessions`.
 *
 * @module
 */

import { entryNotFound } from '../../http/refusals.ts'
import type { ApiRequest } from '../../http/request.ts'
import { messageResponse } from '../../http/respond.ts'
import { withId } from '../../ports/filter.ts'
import { requestedId } from '../../records/rules/record-id.ts'
import type { Realm } from '../instance/instance.ts'
import { sessionsEnded } from '../sign-in/sessions.ts'
import { report } from '../visit/security-events.ts'
import type { AuthRoute } from './route.ts'

/** The row of `endUserSessions`. */
export const endUserSessionsRoute: AuthRoute<'endUserSessions'> = {
  name: 'endUserSessions',
  method: 'DELETE',
  path: '/users/:id/sessions',
  access: 'admin',
  needs: 'refresh',
  handler: (realm) => (request) => endUserSessions(realm, request),
}

/** Ends every session of a user, as admins may. */
async function endUserSessions(realm: Realm, request: ApiRequest): Promise<Response> {
  const id = requestedId(realm.settings, request)
  const user = await realm.records.stored.update(withId(id), { set: sessionsEnded(realm) })
  if (!user) throw entryNotFound()
  report(realm, request, 'session-ended', id)
  return messageResponse('Signed out everywhere.')
}
