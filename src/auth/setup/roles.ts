/** Roles: one string, or a list of strings, in a field of the user. */

import { didYouMean, whatThereIs } from '../../model/suggest.ts'
import { either, fail, group, string, strings } from '../option-checks.ts'
import type { RolesOptions } from './options.ts'

export interface RoleSettings {
  readonly list: readonly string[]
  /** Whether the option contains a list. */
  readonly isListed: boolean
  readonly default: string
  /** The value of the role field of a new user. */
  readonly first: string | readonly string[]
  readonly admin: readonly string[]
  readonly multiple: boolean
}

export function roleSettings(option: RolesOptions | undefined): RoleSettings {
  const roles = group('roles', option, ['list', 'default', 'admin', 'field', 'multiple'])
  const list = strings('roles.list', roles.list)
  if (list?.length === 0) fail(`'roles.list' must name at least one role`)
  const admins = strings('roles.admin', roles.admin && [roles.admin].flat())
  string('roles.field', roles.field)
  const inList = (name: string, role: string) => {
    if (list && !list.includes(role))
      fail(`'roles.${name}' is '${role}', which is not in 'roles.list'.${whatThereIs(role, list)}`)
  }
  const given = string('roles.default', roles.default)
  if (given !== undefined) inList('default', given)
  for (const role of admins ?? []) inList('admin', role)
  const usual = list && !list.includes('user') ? (list[0] as string) : 'user'
  const fallback = given ?? usual
  const admin = admins ?? ['admin'].filter((role) => !list || list.includes(role))
  const multiple = either(false)('roles.multiple', roles.multiple)
  return {
    list: list ?? [...new Set([fallback, ...admin])],
    isListed: list !== undefined,
    default: fallback,
    first: multiple ? [fallback] : fallback,
    admin,
    multiple,
  }
}

/** Refuses a role that no route assigns; if the options have no list, only a likely misspelling. */
export function checkRoles(
  who: string,
  roles: readonly string[],
  { list, isListed }: Pick<RoleSettings, 'list' | 'isListed'>,
): void {
  for (const role of roles) {
    const meant = list.includes(role) ? '' : didYouMean(role, list)
    if (list.includes(role) || (meant === '' && !isListed)) continue
    fail(`${who} names '${role}', but 'roles.list' has no such role (${list.join(', ')}).${meant}`)
  }
}

/** A stored role as a list with one entry, several, or none. */
export function rolesIn(value: unknown): readonly string[] {
  return [value].flat().filter((role): role is string => typeof role === 'string')
}

export function hasRole(value: unknown, wanted: readonly string[]): boolean {
  return rolesIn(value).some((role) => wanted.includes(role))
}
