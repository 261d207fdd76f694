/**
 * `DELETE /users/:id`: enabled only if `routes` names `deleteUser`.
 *
 * @module
 */

import { inTime } from '../../http/deadline.ts'
import { entryNotFound } from '../../http/refusals.ts'
import type { ApiRequest } from '../../http/request.ts'
import { messageResponse } from '../../http/respond.ts'
import { withId } from '../../ports/filter.ts'
import type { Fields } from '../../ports/store.ts'
import { requestedId } from '../../records/rules/record-id.ts'
import { removeFilesOf } from '../../records/write/file-writes.ts'
import { readBody } from '../accounts/credentials.ts'
import { checkNotLast, keepingAnAdmin } from '../accounts/last-admin.ts'
import { reauthenticated, signInState } from '../accounts/reauthentication.ts'
import { isAdmin } from '../guards.ts'
import type { AuthInstance } from '../instance/instance.ts'
import { userById, withoutSecrets } from '../instance/user.ts'
import { adminNeeded, ownAccountOnly, sessionEnded } from '../refusals.ts'
import { report } from '../visit/security-events.ts'
import type { AuthRoute } from './route.ts'
import { isSelf } from './users-read.ts'

/** The route `deleteUser`. */
export const deleteUserRoute: AuthRoute<'deleteUser'> = {
  name: 'deleteUser',
  method: 'DELETE',
  path: '/users/:id',
  access: 'self or admin',
  optIn: true,
  handler: (auth) => (request) => deleteUser(auth, request),
}

/**
 * Removes an account with its sessions and files: the user's own with `currentPassword`, or any for an admin. If
 * `onDelete` throws, the account stays.
 */
async function deleteUser(auth: AuthInstance, request: ApiRequest): Promise<Response> {
  const { engine, settings } = auth
  const id = requestedId(settings, request)
  const checked = await reauthenticatedOwner(auth, id, request)
  const user = checked ?? (await userById(auth, id))
  if (!user) throw entryNotFound()
  await checkNotLast(auth, user, adminNeeded)
  await engine.checkRemovable(id)
  const { onDelete } = settings
  if (onDelete) await inTime(request, () => onDelete(withoutSecrets(auth, user) as never, request))
  // Throws a 409 for an account that enforced references keep, although they did not before the hook.
  const removed = await keepingAnAdmin(auth, user, adminNeeded, (engine, expect) =>
    engine.remove(withId(id), { ...expect, ...(checked && signInState(auth, checked)) }),
  )
  if (!removed) throw checked ? sessionEnded() : entryNotFound()
  await removeFilesOf(auth, removed, request)
  report(auth, request, 'account-deleted', id)
  return messageResponse('Account deleted.')
}

/**
 * The user, if it is their own account and `currentPassword` is right; undefined for an admin who removes another's.
 */
async function reauthenticatedOwner(
  auth: AuthInstance,
  id: string,
  request: ApiRequest,
): Promise<Fields | undefined> {
  if (isSelf(request, id)) {
    return reauthenticated(auth, await readBody(auth, request), request)
  }
  if (!isAdmin(auth, request)) throw ownAccountOnly()
  return undefined
}
