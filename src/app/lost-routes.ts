/** Routes that get no requests, because others that were mounted before respond to them. */

import type { Logger } from '../ports/services/logger.ts'
import type { MountedRoutes } from '../records/engine/host.ts'
import { patternOf, type Route } from '../records/engine/route.ts'
import { servedBy } from '../records/setup/serving.ts'
import type { RouteTable, Row } from './route-table.ts'

/** Warns of the routes in `mounted` that those in `table` leave nothing to, once for each router that does. */
export function warnOfLost(
  table: RouteTable,
  { mount, routes }: MountedRoutes,
  logger: Logger,
): void {
  const lost = new Map<number, [ahead: Row, places: string[]]>()
  for (const route of routes) {
    const pattern = patternOf(mount, route)
    const ahead = table.ahead(route.method, pattern)
    if (!ahead) continue
    const as = ahead.pattern === pattern ? '' : ` (as ${ahead.method} ${ahead.pattern})`
    const [, places] = lost.get(ahead.router) ?? [ahead, []]
    lost.set(ahead.router, [ahead, [...places, `${route.method} ${pattern}${as}`]])
  }
  const own = routes.find(({ handler }) => servedBy(handler)) ?? routes[0]
  for (const [ahead, places] of lost.values()) {
    const first = nameOf(ahead.mount ?? ahead.pattern, ahead)
    logger.warn(
      `${places.join(', ')}: ${first}, which was mounted first, gets these requests, and ${nameOf(mount, own)} gets none of them. Mount that one first, or on another path.`,
    )
  }
}

function nameOf(mount: string, route: Route | undefined): string {
  const model = route && servedBy(route.handler)?.resource.model.name
  if (mount === '' && route?.mayPass) return 'that route'
  return `the router on '${mount || '/'}'${model ? ` (${model})` : ''}`
}
