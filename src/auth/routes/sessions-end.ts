/**
 * `DELETE /sessions/:id`.
 *
 * @module
 */

import { entryNotFound } from '../../http/refusals.ts'
import type { ApiRequest } from '../../http/request.ts'
import { messageResponse } from '../../http/respond.ts'
import { withId } from '../../ports/filter.ts'
import type { AuthInstance } from '../instance/instance.ts'
import { userById } from '../instance/user.ts'
import type { RefreshSettings } from '../setup/refresh-settings.ts'
import { liveSession, oneEnded } from '../sign-in/sessions.ts'
import { report } from '../visit/security-events.ts'
import type { AuthRoute } from './route.ts'

/** The route `endSession`. */
export const endSessionRoute: AuthRoute<'endSession'> = {
  name: 'endSession',
  method: 'DELETE',
  path: '/sessions/:id',
  access: 'signed in',
  needs: 'refresh',
  handler: (auth, sessions) => (request) => endSession(auth, sessions, request),
}

/** Ends one session of the signed-in user, and the tokens that belong to it. */
async function endSession(
  auth: AuthInstance,
  refresh: RefreshSettings,
  request: ApiRequest,
): Promise<Response> {
  const id = String(request.auth?.userId)
  const user = await userById(auth, id)
  const session = user && liveSession(auth, refresh, user, request.params.id)
  if (!session) throw entryNotFound()
  await auth.engine.stored.update(withId(id), oneEnded(auth, session.id))
  report(auth, request, 'session-ended', id)
  return messageResponse('Signed out.')
}
