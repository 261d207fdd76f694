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
import { changeIdOf } from '../../records/write/receipted.ts'
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
import { isSelf } from './users-read.ts'

/** Changes a user's roles. */
export async function modifyRoles(auth: AuthInstance, request: ApiRequest): Promise<Response> {
  const { users, settings, roles } = auth
  const id = requestedId(settings, request)
  const wanted = rolesIn(roles, await readBody(auth.host, request))
  if (isSelf(request, id) && !hasRole(wanted, roles.admin)) throw ownAdminRole()
  const before = await users.byId(id)
  const after = before && (await changeRoles(auth, before, wanted))
  if (!after) throw entryNotFound()
  auth.report(request, 'roles-changed', id)
  return valueResponse(users.shown(after), { headers: changeIdOf(users.engine, id) })
}

/** The record of `before` with the roles `wanted`; null if it is gone. Throws a 409 if no admin would be left. */
export async function changeRoles(
  auth: AuthInstance,
  before: Fields,
  wanted: readonly string[],
): Promise<Fields | null> {
  const { users, roles } = auth
  const id = withId(String(before._id))
  const changes = { [users.names.role]: roles.multiple ? [...wanted] : wanted[0] }
  if (hasRole(wanted, roles.admin)) return users.engine.update(id, changes)
  return keepingAnAdmin(auth, before, lastAdmin, (engine, expect) =>
    engine.update(id, changes, expect),
  )
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
