/**
 * `DELETE /users/:id`: there only where `routes` names `deleteUser`.
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
import { reauthenticated, signInState } from '../accounts/reauthentication.ts'
import { isAdmin } from '../guards.ts'
import type { Realm } from '../instance/instance.ts'
import { isDisabled, userById, withoutSecrets } from '../instance/user.ts'
import { adminNeeded, ownAccountOnly, sessionEnded } from '../refusals.ts'
import { firstRole, hasRole } from '../setup/roles.ts'
import { report } from '../visit/security-events.ts'
import type { AuthRoute } from './route.ts'
import { isSelf } from './users-read.ts'
import { anotherAdmin } from './users-roles.ts'

/** The row of `deleteUser`. */
export const deleteUserRoute: AuthRoute<'deleteUser'> = {
  name: 'deleteUser',
  method: 'DELETE',
  path: '/users/:id',
  access: 'self or admin',
  optIn: true,
  handler: (realm) => (request) => deleteUser(realm, request),
}

/**
 * Removes an account with its sessions and files: the user's own with `currentPassword`, or any for an admin. What
 * `onDelete` throws keeps the account.
 */
async function deleteUser(realm: Realm, request: ApiRequest): Promise<Response> {
  const { records, settings } = realm
  const id = requestedId(settings, request)
  const own = isSelf(request, id)
  if (!own && !isAdmin(realm, request)) throw ownAccountOnly()
  const checked = own
    ? await reauthenticated(realm, await readBody(realm, request), request)
    : undefined
  const user = checked ?? (await userById(realm, id))
  if (!user) throw entryNotFound()
  if (!(await mayGo(realm, user))) throw adminNeeded()
  const { onDelete } = settings
  if (onDelete) await inTime(request, () => onDelete(withoutSecrets(realm, user) as never, request))
  const demoted = await demotedAdmin(realm, user)
  const removed = await records.remove(withId(id), checked && signInState(realm, checked))
  if (!removed) {
    if (demoted) await givenBack(realm, user)
    throw checked ? sessionEnded() : entryNotFound()
  }
  await removeFilesOf(realm, removed, request)
  report(realm, request, 'account-deleted', id)
  return messageResponse('Account deleted.')
}

function isLiveAdmin(realm: Realm, user: Fields): boolean {
  const { names, settings } = realm
  return hasRole(user[names.role], settings.roles.admin) && !isDisabled(realm, user)
}

async function mayGo(realm: Realm, user: Fields): Promise<boolean> {
  return !isLiveAdmin(realm, user) || anotherAdmin(realm, String(user._id))
}

/**
 * Takes an admin's role before the account goes, and gives it back when no other admin is left: no store has a step over
 * several records, and of two admins who delete themselves at the same moment the later one sees that the other is gone.
 */
async function demotedAdmin(realm: Realm, user: Fields): Promise<boolean> {
  if (!isLiveAdmin(realm, user)) return false
  const { names, records, settings } = realm
  const id = String(user._id)
  const role = { [names.role]: user[names.role] }
  const plain = { [names.role]: firstRole(settings.roles) }
  const demoted = await records.stored.update(withId(id), { set: plain }, { expect: role })
  if (demoted && (await anotherAdmin(realm, id))) return true
  if (demoted) await givenBack(realm, user)
  throw adminNeeded()
}

async function givenBack({ names, records }: Realm, user: Fields): Promise<void> {
  const set = { [names.role]: user[names.role] }
  await records.stored.update(withId(String(user._id)), { set })
}
