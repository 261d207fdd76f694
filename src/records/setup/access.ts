/** Which of its six routes a router serves, and the guards of each. */

import type { Fail } from '../../model/option-rules.ts'
import { whatThereIs } from '../../model/suggest.ts'
import { refuseMiddlewares } from '../engine/guards.ts'
import type { Guard } from '../engine/route.ts'

/** Who may use a route: no one (405), everyone who passes `middlewares`, or those who also pass these guards. */
export type RouteAccess = boolean | Guard | readonly Guard[]

/** The access of each route of a router. */
export interface AccessOptions {
  /** GET and HEAD of the mount. Default true. */
  readonly list?: RouteAccess
  /** QUERY of the mount. Default: that of `list`, because both return the same records. */
  readonly query?: RouteAccess
  /** GET and HEAD of a record. Default true. */
  readonly read?: RouteAccess
  /** POST. Default true. */
  readonly create?: RouteAccess
  /** PATCH. Default true. */
  readonly update?: RouteAccess
  /** DELETE. Default true. */
  readonly remove?: RouteAccess
  /** GET of a record's history, for a router with `history`. Default: that of `read`. */
  readonly history?: RouteAccess
  /**
   * POST that makes a record what it was, for a router with `history`. The guards of `update` run too, and those of `create`
   * where the record was removed. Default false.
   */
  readonly restore?: RouteAccess
}

export type Action = keyof AccessOptions

/** The guards of each route; false if it is not served. */
export type ServedActions = Readonly<Record<Action, readonly Guard[] | false>>

/** The routes that write, and what clients do by them. */
const WRITES = [
  ['create', 'create'],
  ['update', 'change'],
  ['remove', 'delete'],
] as const

/** Resolves the option `access`. Refuses unknown names and other values, undefined too: it must not open a route. */
export function resolveAccess(
  options: {
    readonly access?: AccessOptions
    readonly enableQuery?: boolean
    readonly history?: boolean
  },
  fail: Fail,
): ServedActions {
  const { access = {}, enableQuery = true, history: hasHistory = false } = options
  const { list = true, query = list, read = true } = access
  const { create = true, update = true, remove = true } = access
  const { history = hasHistory && read, restore = false } = access
  const all = { list, query: enableQuery && query, read, create, update, remove, history, restore }
  for (const [name, value] of Object.entries(access)) {
    if (!Object.hasOwn(all, name)) {
      fail(`'access' names '${name}', which is no route.${whatThereIs(name, Object.keys(all))}`)
    }
    const guards = [value].flat()
    if (typeof value !== 'boolean' && !guards.every((guard) => typeof guard === 'function')) {
      fail(`'access.${name}' must be true, false, a guard or a list of guards`)
    }
    if (!hasHistory && (name === 'history' || name === 'restore')) {
      fail(`'access.${name}' needs history: true`)
    }
    refuseMiddlewares(`'access.${name}'`, guards, fail)
  }
  const guarded = Object.entries(all).map(([action, one]) => {
    return [action, typeof one === 'boolean' ? one && [] : [one].flat()]
  })
  return Object.fromEntries(guarded) as ServedActions
}

/** Whether a router without other guards lets anyone list and read its records. */
export function showsAll({ list, read }: ServedActions): boolean {
  return isOpen(list) && isOpen(read)
}

/** What anyone can do where no other guards are, for a warning: nothing, or the mount and, if not everything, what. */
export function openAt(mount: string, access: ServedActions): readonly string[] {
  const open = WRITES.filter(([action]) => isOpen(access[action]))
  if (open.length === 0) return []
  const isAll = open.length === WRITES.length
  return [isAll ? mount : `${mount} (only ${open.map(([, word]) => word).join(', ')})`]
}

function isOpen(guards: readonly Guard[] | false): boolean {
  return guards !== false && guards.length === 0
}
