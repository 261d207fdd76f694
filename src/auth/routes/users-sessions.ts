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
import type { AuthInstance } from '../instance/instance.ts'
import { sessionsEnded } from '../sign-in/sessions.ts'
import { report } from '../visit/security-events.ts'
import type { AuthRoute } from './route.ts'

/** The route `endUserSessions`. */
export const endUserSessionsRoute: AuthRoute<'endUserSessions'> = {
  name: 'endUserSessions',
  method: 'DELETE',
  path: '/users/:id/sessions',
  access: 'admin',
  needs: 'refresh',
  handler: (auth) => (request) => endUserSessions(auth, request),
}

/** Ends every session of a user; for admins. */
async function endUserSessions(auth: AuthInstance, request: ApiRequest): Promise<Response> {
  const id = requestedId(auth.settings, request)
  const user = await auth.engine.stored.update(withId(id), { set: sessionsEnded(auth) })
  if (!user) throw entryNotFound()
  report(auth, request, 'session-ended', id)
  return messageResponse('Signed out everywhere.')
}
