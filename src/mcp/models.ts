/**
 * The models that agents see, and what a caller may do with each.
 *
 * @module
 */

import { firstResponse } from '../app/guards.ts'
import { partRequest } from '../app/part-request.ts'
import type { HttpError } from '../http/errors.ts'
import type { ApiRequest } from '../http/request.ts'
import { descriptionsOf, isDescribed, letsThrough } from '../records/engine/guards.ts'
import type { Host } from '../records/engine/host.ts'
import { type Context, type Guard, patternOf, type Route } from '../records/engine/route.ts'
import type { Resource } from '../records/setup/resource.ts'
import { servedBy } from '../records/setup/serving.ts'
import type { Tool } from './tools.ts'

/** What agents may do beyond reading. */
export type AgentWrite = 'create' | 'update' | 'remove'

/** One router: the model of agents that its mount names. */
export interface Served {
  readonly mount: string
  readonly resource: Resource
  readonly routes: { [action: string]: Route }
}

/** Operations that agents know by another name; they send queries, and need no list by URL. */
const ACTIONS: Readonly<Record<string, string>> = { query: 'list', delete: 'remove', list: '' }

/** The routers of an app that agents see, by mount. Accounts are not there, nor mounts with parameters. */
export function servedIn({ mounted, accounts }: Host): ReadonlyMap<string, Served> {
  const all = new Map<string, Served>()
  for (const { mount, routes } of mounted) {
    for (const route of routes) {
      const serving = servedBy(route.handler)
      const isOwn = !mount.includes(':') && ['', '/:id'].includes(route.path)
      if (!serving || !isOwn || accounts.has(serving.resource.model)) continue
      const served = all.get(mount) ?? { mount, resource: serving.resource, routes: {} }
      served.routes[ACTIONS[serving.operation] ?? serving.operation] ??= route
      all.set(mount, served)
    }
  }
  return all
}

/** The one whose request is asked about. */
export interface Caller {
  readonly host: Host
  readonly request: ApiRequest
  readonly context: Context
  readonly write: readonly AgentWrite[]
  readonly tools: readonly Tool[]
}

/** What the routes, `write` and the caller's guards leave of a model. */
export async function actionsOf(
  caller: Caller,
  { mount, routes }: Served,
): Promise<readonly string[]> {
  const actions: string[] = []
  for (const action of ['list', 'read', ...caller.write]) {
    const route = routes[action]
    if (route && (await mayUse(caller, mount, route))) actions.push(action)
  }
  return actions
}

/** Whether the guards of a route that say whom they let through would let the caller through. */
async function mayUse(caller: Caller, mount: string, route: Route): Promise<boolean> {
  const { host, request, context } = caller
  const { method } = route
  const guards = [...host.guards, ...route.guards]
  const pattern = patternOf(mount, route)
  const asked = partRequest(request, { method, path: pattern.replace(':id', '0') })
  Object.assign(asked, { auth: request.auth, route: pattern })
  try {
    return letsThrough(guards, method) && (await pass(guards, asked, context))
  } catch (error) {
    const { status } = error as HttpError
    // A token that is no longer good is one to replace, whatever the tool.
    const isStale = status === 401 && request.headers.has('authorization')
    if (status < 500 && !isStale) return false
    throw error
  }
}

async function pass(guards: Guard[], asked: ApiRequest, context: Context): Promise<boolean> {
  for (const guard of guards) {
    // Others may count requests, so they run for real ones alone.
    const [{ token, apiKey, roles } = {}] = descriptionsOf([guard])
    // A guard of your own may find out the caller whose role another one demands.
    const isJudged = asked.auth || !roles || guards.every(isDescribed)
    if ((token ?? apiKey) && isJudged && (await firstResponse([guard], asked, context)))
      return false
  }
  return true
}
