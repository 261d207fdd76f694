/**
 * `POST /logout/all`: ends every session of the user.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import { messageResponse } from '../../http/respond.ts'
import { withId } from '../../ports/filter.ts'
import type { AuthInstance } from '../instance/instance.ts'
import { sessionsEnded } from '../sign-in/sessions.ts'
import { report } from '../visit/security-events.ts'
import type { AuthRoute } from './route.ts'

/** The route `logoutAll`. */
export const logoutAllRoute: AuthRoute<'logoutAll'> = {
  name: 'logoutAll',
  method: 'POST',
  path: '/logout/all',
  access: 'signed in',
  needs: 'refresh',
  handler: (auth) => (request) => logoutAll(auth, request),
}

/** Signs out everywhere. */
async function logoutAll(auth: AuthInstance, request: ApiRequest): Promise<Response> {
  const user = String(request.auth?.userId)
  await auth.engine.stored.update(withId(user), { set: sessionsEnded(auth) })
  report(auth, request, 'session-ended', user)
  return messageResponse('Signed out everywhere.')
}
