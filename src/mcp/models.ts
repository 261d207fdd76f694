/**
 * The models that agents see, and what a caller may do with each.
 *
 * @module
 */

import { firstResponse } from '../app/guards.ts'
import { HttpError } from '../http/errors.ts'
import { parseQuery } from '../http/query-string.ts'
import type { ApiRequest } from '../http/request.ts'
import { descriptionsOf, isDescribed, letsThrough } from '../records/engine/guards.ts'
import type { Host } from '../records/engine/host.ts'
import { type Context, type Guard, patternOf, type Route } from '../records/engine/route.ts'
import type { Resource } from '../records/setup/resource.ts'
import { type Serving, servedBy } from '../records/setup/serving.ts'
import type { AgentWrite } from './tools.ts'

/** What an agent may do with a model. */
export type AgentAction = 'list' | 'read' | AgentWrite

/** One router: the model of agents that its mount names. */
export interface Served {
  readonly mount: string
  readonly resource: Resource
  readonly routes: ReadonlyMap<Serving['operation'], Route>
}

/** The routers of an app that agents see, by mount. Accounts are not there, nor mounts with parameters. */
export function servedIn({ mounted, accounts }: Host): ReadonlyMap<string, Served> {
  const all = new Map<string, Served>()
  for (const { mount, routes } of mounted) {
    if (all.has(mount) || mount.includes(':')) continue
    const own = routes.flatMap((route) => {
      const serving = servedBy(route.handler)
      const isOwn = route.path === '' || route.path === '/:id'
      return serving && isOwn && !accounts.has(serving.resource.model)
        ? [{ ...serving, route }]
        : []
    })
    const [first] = own
    if (!first) continue
    const byOperation = new Map(own.map(({ operation, route }) => [operation, route] as const))
    all.set(mount, { mount, resource: first.resource, routes: byOperation })
  }
  return all
}

const OPERATIONS: readonly (readonly [AgentAction, ...Serving['operation'][]])[] = [
  ['list', 'query', 'list'],
  ['read', 'read'],
  ['create', 'create'],
  ['update', 'update'],
  ['remove', 'delete'],
]

/** The one whose request is asked about. */
export interface Caller {
  readonly host: Host
  readonly request: ApiRequest
  readonly context: Context
  readonly write: readonly AgentWrite[]
}

/** What the routes, `write` and the caller's guards leave of a model. */
export async function actionsOf(caller: Caller, served: Served): Promise<readonly AgentAction[]> {
  const actions: AgentAction[] = []
  for (const [action, ...operations] of OPERATIONS) {
    const isWrite = action !== 'list' && action !== 'read'
    if (isWrite && !caller.write.includes(action)) continue
    const route = operations.map((one) => served.routes.get(one)).find((one) => one !== undefined)
    if (route && (await mayUse(caller, served, route))) actions.push(action)
  }
  return actions
}

/**
 * Whether the guards of a route that say whom they let through would let the caller through. Others may count requests, so
 * they run for real ones alone.
 */
async function mayUse(caller: Caller, { mount }: Served, route: Route): Promise<boolean> {
  const guards = [...caller.host.guards, ...route.guards]
  if (!letsThrough(guards, route.method)) return false
  try {
    return await passes(probe(caller, mount, route), guards, caller.context)
  } catch (error) {
    if (!(error instanceof HttpError) || error.status >= 500) throw error
    // A token that is no longer good is one to replace, whatever the tool.
    if (error.status === 401 && caller.request.headers.has('authorization')) throw error
    return false
  }
}

async function passes(
  asked: ApiRequest,
  guards: readonly Guard[],
  context: Context,
): Promise<boolean> {
  for (const guard of guards) {
    const isJudged = tells(guard) && (asked.auth || !followsUnknown(guard, guards))
    if (isJudged && (await firstResponse([guard], asked, context)) !== undefined) return false
  }
  return true
}

function tells(guard: Guard): boolean {
  const [{ token, apiKey } = {}] = descriptionsOf([guard])
  return token !== undefined || apiKey !== undefined
}

/** Whether a guard asks for a role of a caller whom a guard of your own may find out. */
function followsUnknown(guard: Guard, guards: readonly Guard[]): boolean {
  const [{ roles } = {}] = descriptionsOf([guard])
  return roles !== undefined && !guards.every(isDescribed)
}

/** The request that a route would get from the caller, for guards that judge it. */
function probe({ request }: Caller, mount: string, route: Route): ApiRequest {
  const url = `${new URL(request.url).origin}${patternOf(mount, route).replace(':id', '0')}`
  const plain = new Request(url, { headers: request.headers })
  Object.defineProperty(plain, 'method', { value: route.method })
  const { requestId, auth } = request
  return Object.assign(plain, {
    ...{ requestId, params: {}, query: parseQuery(url), route: patternOf(mount, route) },
    ...(auth && { auth }),
  })
}
