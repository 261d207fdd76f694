/**
 * What follows a sign-in by any route.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import type { Fields } from '../../ports/store.ts'
import { tell } from '../delivery/notices.ts'
import type { AuthInstance } from '../instance/instance.ts'
import { remember } from '../visit/known-clients.ts'
import { report } from '../visit/security-events.ts'
import { visitOf } from '../visit/visit.ts'

/** Reports that `user` has signed in, and remembers the client. The owner is told of one that the account didn't know. */
export async function signedIn(
  auth: AuthInstance,
  user: Fields,
  request: ApiRequest,
): Promise<void> {
  report(auth, request, 'signed-in', user._id)
  const isNew = await remember(auth, user, visitOf(request).client)
  if (isNew) tell(auth, user, 'newClient', request)
}
