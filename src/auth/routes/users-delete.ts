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
import type { Removal } from '../../records/engine/removal.ts'
import { requestedId } from '../../records/rules/record-id.ts'
import { removeFilesOf } from '../../records/write/file-writes.ts'
import { readBody } from '../accounts/credentials.ts'
import { reauthenticated, signInState } from '../accounts/reauthentication.ts'
import { isAdmin } from '../guards.ts'
import type { AuthInstance } from '../instance/instance.ts'
import { isDisabled, userById, withoutSecrets } from '../instance/user.ts'
import { adminNeeded, ownAccountOnly, sessionEnded } from '../refusals.ts'
import { firstRole, hasRole } from '../setup/roles.ts'
import { report } from '../visit/security-events.ts'
import type { AuthRoute } from './route.ts'
import { isSelf } from './users-read.ts'
import { anotherAdmin } from './users-roles.ts'

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
  if (!(await mayGo(auth, user))) throw adminNeeded()
  await engine.checkRemovable(id)
  const { onDelete } = settings
  if (onDelete) await inTime(request, () => onDelete(withoutSecrets(auth, user) as never, request))
  const demoted = await demotedAdmin(auth, user)
  const removed = await removedUser(auth, user, checked).catch(async (error: unknown) => {
    if (demoted) await givenBack(auth, user)
    throw error
  })
  await removeFilesOf(auth, removed, request)
  report(auth, request, 'account-deleted', id)
  return messageResponse('Account deleted.')
}

/** Throws a 409 for an account that enforced references keep, although they did not before the hook. */
async function removedUser(
  auth: AuthInstance,
  user: Fields,
  checked: Fields | undefined,
): Promise<Removal> {
  const expect = checked && signInState(auth, checked)
  const removed = await auth.engine.remove(withId(String(user._id)), expect)
  if (!removed) throw checked ? sessionEnded() : entryNotFound()
  return removed
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

function isLiveAdmin(auth: AuthInstance, user: Fields): boolean {
  const { names, settings } = auth
  return hasRole(user[names.role], settings.roles.admin) && !isDisabled(auth, user)
}

async function mayGo(auth: AuthInstance, user: Fields): Promise<boolean> {
  return !isLiveAdmin(auth, user) || anotherAdmin(auth, String(user._id))
}

/**
 * Takes an admin's role before the account is removed, and gives it back if no other admin is left. No store has a step
 * over several records; of two admins who delete themselves at the same moment, the later one sees that the other is
 * gone.
 */
async function demotedAdmin(auth: AuthInstance, user: Fields): Promise<boolean> {
  if (!isLiveAdmin(auth, user)) return false
  const { names, engine, settings } = auth
  const id = String(user._id)
  const role = { [names.role]: user[names.role] }
  const plain = { [names.role]: firstRole(settings.roles) }
  const demoted = await engine.stored.update(withId(id), { set: plain }, { expect: role })
  if (demoted && (await anotherAdmin(auth, id))) return true
  if (demoted) await givenBack(auth, user)
  throw adminNeeded()
}

async function givenBack({ names, engine }: AuthInstance, user: Fields): Promise<void> {
  const set = { [names.role]: user[names.role] }
  await engine.stored.update(withId(String(user._id)), { set })
}
