/**
 * `POST /logout/all`: ends every session of the user.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import { messageResponse } from '../../http/respond.ts'
import { withId } from '../../ports/filter.ts'
import type { Realm } from '../instance/instance.ts'
import { sessionsEnded } from '../sign-in/sessions.ts'
import { report } from '../visit/security-events.ts'
import type { AuthRoute } from './route.ts'

/** The row of `logoutAll`. */
export const logoutAllRoute: AuthRoute<'logoutAll'> = {
  name: 'logoutAll',
  method: 'POST',
  path: '/logout/all',
  access: 'signed in',
  needs: 'refresh',
  handler: (realm) => (request) => logoutAll(realm, request),
}

/** Signs out everywhere. */
async function logoutAll(realm: Realm, request: ApiRequest): Promise<Response> {
  const user = String(request.auth?.userId)
  await realm.records.stored.update(withId(user), { set: sessionsEnded(realm) })
  report(realm, request, 'session-ended', user)
  return messageResponse('Signed out everywhere.')
}
