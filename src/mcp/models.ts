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
import type { Served } from '../records/setup/agent-models.ts'
import type { Tool } from './tools.ts'

/** What agents may do beyond reading. */
export type AgentWrite = 'create' | 'update' | 'remove'

/** The one whose request is asked about. */
export interface Caller {
  readonly host: Host
  readonly request: ApiRequest
  readonly context: Context
  /** What agents may do. */
  readonly agents: readonly string[]
  readonly tools: readonly Tool[]
}

/** What the routes, `write` and the caller's guards leave of a model. */
export async function actionsOf(
  caller: Caller,
  { mount, routes }: Served,
): Promise<readonly string[]> {
  const actions: string[] = []
  for (const action of caller.agents) {
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
