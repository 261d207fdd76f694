/**
 * `PATCH /users/:id/roles`.
 *
 * @module
 */

import { entryNotFound } from '../../http/refusals.ts'
import type { ApiRequest } from '../../http/request.ts'
import { valueResponse } from '../../http/respond.ts'
import { withId } from '../../ports/filter.ts'
import type { Fields } from '../../ports/store.ts'
import { requestedId } from '../../records/rules/record-id.ts'
import { credential, readBody } from '../accounts/credentials.ts'
import { keepingAnAdmin } from '../accounts/last-admin.ts'
import type { AuthInstance } from '../instance/instance.ts'
import { shownUser, userById } from '../instance/user.ts'
import {
  invalidFormat,
  lastAdmin,
  oneRoleOnly,
  ownAdminRole,
  roleRequired,
  unknownRole,
} from '../refusals.ts'
import { hasRole } from '../setup/roles.ts'
import { report } from '../visit/security-events.ts'
import type { AuthRoute } from './route.ts'
import { isSelf } from './users-read.ts'

/** The route `modifyRoles`. */
export const modifyRolesRoute: AuthRoute<'modifyRoles'> = {
  name: 'modifyRoles',
  method: 'PATCH',
  path: '/users/:id/roles',
  access: 'admin',
  handler: (auth) => (request) => modifyRoles(auth, request),
}

/** Changes a user's roles. */
async function modifyRoles(auth: AuthInstance, request: ApiRequest): Promise<Response> {
  const { settings, names } = auth
  const { admin, multiple } = settings.roles
  const id = requestedId(auth.settings, request)
  const roles = requestedRoles(auth, await readBody(auth, request))
  const staysAdmin = hasRole(roles, admin)
  if (isSelf(request, id) && !staysAdmin) throw ownAdminRole()
  const before = await userById(auth, id)
  if (!before) throw entryNotFound()
  const changes = { [names.role]: multiple ? [...roles] : roles[0] }
  const updated = staysAdmin
    ? await auth.engine.update(withId(id), changes)
    : await keepingAnAdmin(auth, before, lastAdmin, (engine, expect) =>
        engine.update(withId(id), changes, expect),
      )
  if (!updated) throw entryNotFound()
  report(auth, request, 'roles-changed', id)
  return valueResponse(shownUser(auth, updated))
}

/** The roles that the body names, once each; one of them if the model holds one. */
function requestedRoles({ settings }: AuthInstance, body: Fields): readonly string[] {
  const { list, multiple } = settings.roles
  const roles = new Set<string>()
  for (const entry of entriesOf(body)) {
    if (typeof entry !== 'string' || !list.includes(entry)) {
      throw unknownRole(String(entry).slice(0, MAX_SHOWN), list)
    }
    roles.add(entry)
  }
  if (roles.size === 0) throw roleRequired()
  if (roles.size > 1 && !multiple) throw oneRoleOnly()
  return [...roles]
}

const MAX_SHOWN = 64

function entriesOf(body: Fields): readonly unknown[] {
  const { roles } = body
  if (!Array.isArray(roles)) {
    return [credential(body, 'role') ?? credential(body, 'roles') ?? ''].filter(
      (role) => role !== '',
    )
  }
  if (roles.some((entry) => typeof entry === 'object' && entry !== null)) throw invalidFormat()
  return roles
}
