/**
 * `POST /logout`: ends one session. The response is the same for every token.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import { messageResponse } from '../../http/respond.ts'
import { idFrom } from '../../model/cast.ts'
import { withId } from '../../ports/filter.ts'
import { credential, readBody } from '../accounts/credentials.ts'
import type { AuthInstance } from '../instance/instance.ts'
import { userById } from '../instance/user.ts'
import type { RefreshSettings } from '../setup/refresh-settings.ts'
import { presentedToken, type Standing } from '../sign-in/presented.ts'
import { oneEnded, sessionsOf } from '../sign-in/sessions.ts'
import { report } from '../visit/security-events.ts'
import type { AuthRoute } from './route.ts'

/** The standings of a token that may end its session. */
const ENDS: readonly Standing[] = ['current', 'graced']

/** The route `logout`. */
export const logoutRoute: AuthRoute<'logout'> = {
  name: 'logout',
  method: 'POST',
  path: '/logout',
  access: 'anyone',
  needs: 'refresh',
  handler: (auth, sessions) => (request) => logout(auth, sessions, request),
}

/** Signs out. */
async function logout(
  auth: AuthInstance,
  settings: RefreshSettings,
  request: ApiRequest,
): Promise<Response> {
  const body = await readBody(auth, request)
  const token = presentedToken(auth, settings, credential(body, 'refreshToken'))
  const id = token && idFrom(token.userId, auth.settings.model.idType)
  const user = id === undefined ? undefined : await userById(auth, id)
  const session = user && sessionsOf(auth, user).find((entry) => entry.id === token?.sessionId)
  if (id !== undefined && token && session && ENDS.includes(token.standing(session))) {
    await auth.engine.stored.update(withId(id), oneEnded(auth, session.id))
    report(auth, request, 'session-ended', id)
  }
  return messageResponse('Signed out.')
}
