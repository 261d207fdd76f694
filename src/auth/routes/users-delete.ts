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
import { requestedId } from '../../records/rules/record-id.ts'
import { removeFilesOf } from '../../records/write/file-writes.ts'
import { changeIdOf } from '../../records/write/receipted.ts'
import { readBody } from '../accounts/credentials.ts'
import { checkNotLast, keepingAnAdmin } from '../accounts/last-admin.ts'
import { reauthenticate } from '../accounts/reauthentication.ts'
import { isAdmin } from '../guards.ts'
import { type AuthInstance, writtenBy } from '../instance.ts'
import { adminNeeded, ownAccountOnly, sessionEnded } from '../refusals.ts'
import type { AuthRoute } from './route.ts'
import { isSelf } from './users-read.ts'

/** The route `deleteUser`. */
export const deleteUserRoute: AuthRoute<'deleteUser'> = {
  name: 'deleteUser',
  method: 'DELETE',
  path: '/users/:id',
  access: 'self or admin',
  optIn: true,
  handler: (auth) => (request) => deleteUser(writtenBy(auth, request), request),
}

/**
 * Removes an account with its sessions and files: the user's own with `currentPassword`, or any for an admin. If
 * `onDelete` throws, the account stays.
 */
async function deleteUser(auth: AuthInstance, request: ApiRequest): Promise<Response> {
  const { users, settings } = auth
  const id = requestedId(settings, request)
  const isOwn = isSelf(request, id)
  if (!isOwn && !isAdmin(settings.roles, request)) throw ownAccountOnly()
  const user = isOwn
    ? await reauthenticate(auth, await readBody(auth.host, request), request)
    : await users.byId(id)
  if (!user) throw entryNotFound()
  await checkNotLast(auth, user, adminNeeded)
  await users.engine.checkRemovable(id)
  const { onDelete } = settings
  if (onDelete) await inTime(request, () => onDelete(users.withoutSecrets(user) as never, request))
  // Throws a 409 for an account that enforced references keep, although they did not before the hook.
  const removed = await keepingAnAdmin(auth, user, adminNeeded, (engine, expect) =>
    engine.remove(withId(id), { ...expect, ...(isOwn && users.passwordState(user)) }),
  )
  if (!removed) throw isOwn ? sessionEnded() : entryNotFound()
  await removeFilesOf(auth, removed, request)
  for (const method of auth.methods) await method.forget?.(id)
  auth.report(request, 'account-deleted', id)
  return messageResponse('Account deleted.', { headers: changeIdOf(users.engine, id) })
}
