/** The routes of users, but for changes of a profile. */

import { inTime } from '../../http/deadline.ts'
import { causeOf } from '../../http/errors/outages.ts'
import { entryNotFound } from '../../http/errors/refusals.ts'
import type { ApiRequest } from '../../http/request/request.ts'
import { setQuery } from '../../http/request/shield.ts'
import { messageResponse, valueResponse } from '../../http/response/respond.ts'
import { idsOf } from '../../ports/services/logger.ts'
import { withId } from '../../ports/store/filter.ts'
import type { Fields } from '../../ports/store/records.ts'
import type { Handler } from '../../records/engine/route.ts'
import { cursors } from '../../records/list/cursor.ts'
import { listHandler } from '../../records/list/list.ts'
import { requestedId } from '../../records/read/read.ts'
import type { RouterOptions } from '../../records/setup/options.ts'
import { resolveResource } from '../../records/setup/resource.ts'
import { serving } from '../../records/setup/serving.ts'
import { removeFilesOf } from '../../records/write/file-writes.ts'
import { changeIdOf } from '../../records/write/write-request.ts'
import { credential, readBody } from '../accounts/credentials.ts'
import { checkNotLast, keepingAnAdmin } from '../accounts/last-admin.ts'
import { reauthenticate } from '../accounts/password-choice.ts'
import { isAdmin } from '../guards.ts'
import type { Auth, AuthRequest } from '../instance/instance.ts'
import * as refuse from '../refusals.ts'
import { hookFailed, report } from '../request-info.ts'
import { hasRole, type RoleSettings } from '../setup/roles.ts'

export async function me({ users, settings, request }: AuthRequest): Promise<Response> {
  // `requireAuth` has just read it. If tokens alone decide, `request.user` was set by some middleware.
  const user = settings.token.invalidateOnPasswordChange
    ? request.user
    : await users.byId(request.auth?.userId)
  if (!user) throw refuse.invalidToken()
  return valueResponse(users.shown(user))
}

/** One user; other users than themselves and admins see only the `visibleFields`. */
export async function getUser({ users, settings, request }: AuthRequest): Promise<Response> {
  const id = requestedId(settings, request)
  const user = await users.byId(id)
  if (!user) throw entryNotFound()
  const { visibleFields, roles } = settings
  const seesAll = !visibleFields || isSelf(request, id) || isAdmin(roles, request)
  return valueResponse(users.shown(user, seesAll ? undefined : { include: visibleFields }))
}

export function isSelf(request: ApiRequest, id: string): boolean {
  return request.auth?.userId === id
}

/** Responds with lists of users, newest first; identifiers and role are equality filters. */
export function usersLister({ settings, names, users, host, mount }: Auth): Handler {
  const { model, identifiers } = settings
  const filters = [...new Set([...identifiers.map(({ field }) => field), names.role])]
  // Ids that tell the time need no index beside their own.
  const newest = model.idType === 'objectId' ? '_id' : (model.timestamps.createdAt ?? '_id')
  const options: RouterOptions<Fields> = {
    ...settings.list,
    model,
    orderBy: [`-${newest}`, '-_id'],
    query: filters,
    sortableFields: [],
    // A list writes nothing.
    allowedFields: [],
    enableQuery: false,
  }
  const resource = resolveResource(host, mount, options)
  const shown = { ...resource, model: { ...model, hidden: users.hidden } }
  const list = listHandler(shown, 'list', cursors(host.secret))
  return serving(shown, 'list', (request, context) => {
    setQuery(request, withNormalForms(request.query))
    return list(request, context)
  })

  /** An identifier finds the account however it is typed. */
  function withNormalForms(query: ApiRequest['query']): ApiRequest['query'] {
    const copy = Object.assign(Object.create(null), query)
    // Also by the name that bodies and the client have for it.
    copy[names.role] ??= copy.role
    for (const { field, name, normalize } of identifiers) {
      const value: string | string[] | undefined = copy[field] ?? copy[name]
      const normal = (text: string) => normalize(text) ?? text
      if (value !== undefined)
        copy[field] = Array.isArray(value) ? value.map(normal) : normal(value)
    }
    return copy
  }
}

export async function modifyRoles(auth: AuthRequest): Promise<Response> {
  const { users, settings, roles, request } = auth
  const id = requestedId(settings, request)
  const wanted = rolesIn(roles, await readBody(auth))
  if (isSelf(request, id) && !hasRole(wanted, roles.admin)) throw refuse.ownAdminRole()
  const before = await users.byId(id)
  const after = before && (await changeRoles(auth, before, wanted))
  if (!after) throw entryNotFound()
  report(auth, 'roles-changed', id)
  return valueResponse(users.shown(after), { headers: changeIdOf(users.engine, id) })
}

/** The record of `before` with the roles `wanted`; null if it is gone. Throws a 409 if no admin would be left. */
export async function changeRoles(
  auth: Auth,
  before: Fields,
  wanted: readonly string[],
): Promise<Fields | null> {
  const { users, roles } = auth
  const id = withId(String(before._id))
  const changes = { [users.names.role]: roles.multiple ? [...wanted] : wanted[0] }
  if (hasRole(wanted, roles.admin)) return users.engine.update(id, changes)
  return keepingAnAdmin(auth, before, refuse.lastAdmin, (engine, expect) =>
    engine.update(id, changes, expect),
  )
}

/** The roles that the body names, once each; one of them if the model holds one. */
function rolesIn({ list, multiple }: RoleSettings, body: Fields): readonly string[] {
  const roles = new Set<string>()
  for (const entry of entriesOf(body)) {
    if (typeof entry !== 'string' || !list.includes(entry)) {
      throw refuse.unknownRole(String(entry), list)
    }
    roles.add(entry)
  }
  if (roles.size === 0) throw refuse.roleRequired()
  if (roles.size > 1 && !multiple) throw refuse.oneRoleOnly()
  return [...roles]
}

function entriesOf(body: Fields): readonly unknown[] {
  const { roles } = body
  if (!Array.isArray(roles)) {
    return [credential(body, 'role') ?? credential(body, 'roles') ?? ''].filter(
      (role) => role !== '',
    )
  }
  if (roles.some((entry) => typeof entry === 'object' && entry !== null))
    throw refuse.invalidFormat()
  return roles
}

/** Removes an account with its files: the user's own with `currentPassword`, or any for an admin. */
export async function deleteUser(auth: AuthRequest): Promise<Response> {
  const { users, settings, request, context } = auth
  const id = requestedId(settings, request)
  const isOwn = isSelf(request, id)
  if (!isOwn && !isAdmin(settings.roles, request)) throw refuse.ownAccountOnly()
  const user = isOwn ? await reauthenticate(auth, await readBody(auth)) : await users.byId(id)
  if (!user) {
    // What methods keep may have been left, if an earlier try was cut off.
    await forget(auth, id)
    throw entryNotFound()
  }
  await checkNotLast(auth, user, refuse.adminNeeded)
  await users.engine.checkRemovable(id)
  const { onDelete } = settings
  if (onDelete) {
    const shown = users.withoutSecrets(user) as never
    await inTime(request, () => onDelete(shown, request, context)).catch(hookFailed)
  }
  // Throws a 409 for an account that enforced references keep, although they did not before the hook.
  const removed = await keepingAnAdmin(auth, user, refuse.adminNeeded, (engine, expect) =>
    engine.remove(withId(id), { ...expect, ...(isOwn && users.passwordState(user)) }),
  )
  if (!removed) throw isOwn ? refuse.sessionEnded() : entryNotFound()
  report(auth, 'account-deleted', id)
  await removeFilesOf(auth, removed, request)
  await forget(auth, id)
  return messageResponse('Account deleted.', { headers: changeIdOf(users.engine, id) })
}

/** Removes what methods keep of an account that is gone. What fails is logged: nothing that is left opens anything. */
async function forget({ methods, logger, request }: AuthRequest, userId: string): Promise<void> {
  for (const method of methods) {
    try {
      await method.forget?.(userId)
    } catch (error) {
      const told = { ...idsOf(request), userId, error: causeOf(error) }
      logger.error('what a method keeps of a deleted account could not be removed', told)
    }
  }
}
