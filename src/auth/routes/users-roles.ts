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
import type { AuthInstance } from '../instance.ts'
import {
  invalidFormat,
  lastAdmin,
  oneRoleOnly,
  ownAdminRole,
  roleRequired,
  unknownRole,
} from '../refusals.ts'
import { hasRole, type RoleSettings } from '../setup/roles.ts'
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
  const { users, settings, roles } = auth
  const id = requestedId(settings, request)
  const wanted = rolesIn(roles, await readBody(auth.host, request))
  const staysAdmin = hasRole(wanted, roles.admin)
  if (isSelf(request, id) && !staysAdmin) throw ownAdminRole()
  const before = await users.byId(id)
  if (!before) throw entryNotFound()
  const changes = { [users.names.role]: roles.multiple ? [...wanted] : wanted[0] }
  const after = staysAdmin
    ? await users.engine.update(withId(id), changes)
    : await keepingAnAdmin(auth, before, lastAdmin, (engine, expect) =>
        engine.update(withId(id), changes, expect),
      )
  if (!after) throw entryNotFound()
  auth.report(request, 'roles-changed', id)
  return valueResponse(users.shown(after))
}

/** The roles that the body names, once each; one of them if the model holds one. */
function rolesIn({ list, multiple }: RoleSettings, body: Fields): readonly string[] {
  const roles = new Set<string>()
  for (const entry of entriesOf(body)) {
    if (typeof entry !== 'string' || !list.includes(entry)) {
      throw unknownRole(String(entry).slice(0, MAX_SHOWN_LENGTH), list)
    }
    roles.add(entry)
  }
  if (roles.size === 0) throw roleRequired()
  if (roles.size > 1 && !multiple) throw oneRoleOnly()
  return [...roles]
}

const MAX_SHOWN_LENGTH = 64

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
