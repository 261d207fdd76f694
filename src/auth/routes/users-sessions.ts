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

/** Ends every session of a user, as admins may. */
export async function endUserSessions(realm: Realm, request: ApiRequest): Promise<Response> {
  const id = requestedId(realm.settings, request)
  const user = await realm.records.stored.update(withId(id), { set: sessionsEnded(realm) })
  if (!user) throw entryNotFound()
  report(realm, request, 'session-ended', id)
  return messageResponse('Signed out everywhere.')
}
