/**
 * The way of a request through the app: probes, start-up, guards, routes, files.
 *
 * @module
 */

import { checkHost } from '../http/host.ts'
import type { ApiRequest } from '../http/request.ts'
import { after, type Soon } from '../ports/soon.ts'
import { serveFile } from '../uploads/serve.ts'
import type { AppContext } from './context.ts'
import type { AppHost } from './create-host.ts'
import { promptGuards } from './late-guards.ts'
import { respondElse, takeQuerySentAsPost } from './methods.ts'
import { firstResponse, type RouteTable, routedPath } from './route-table.ts'

/** The routes of an app. */
export interface Routing {
  readonly host: AppHost
  readonly table: RouteTable
  /** The routes that respond even before start-up. */
  readonly early: RouteTable
}

/** Returns what responds to a request; it throws refusals. */
export function routed({
  host,
  table,
  early,
}: Routing): (request: ApiRequest, context: AppContext) => Soon<unknown> {
  function route(request: ApiRequest, context: AppContext): Soon<unknown> {
    checkHost(request.headers.get('host'))
    const path = routedPath(request)
    takeQuerySentAsPost(request, () => table.at(path))
    const probed = early.serves(path) ? early.respond(path, request, context) : undefined
    return orElse(probed, () => {
      const start = host.isReady() ? undefined : host.ready()
      return after(start, () => after(context.takeAuth(), () => served(path, request, context)))
    })
  }

  function served(path: string, request: ApiRequest, context: AppContext): Soon<unknown> {
    return orElse(firstResponse(promptGuards(host.guards), request, context), () =>
      orElse(table.respond(path, request, context), () => unrouted(path, request, context)),
    )
  }

  async function unrouted(
    path: string,
    request: ApiRequest,
    context: AppContext,
  ): Promise<unknown> {
    return (
      (await serveFile(host.files, request, context.basePath)) ??
      respondElse(table.at(path), host.files, path, request, context)
    )
  }

  return route
}

/** `value`, or what `next` returns if it is nothing. */
function orElse(value: Soon<unknown>, next: () => Soon<unknown>): Soon<unknown> {
  return after(value, (made) => made ?? next())
}
