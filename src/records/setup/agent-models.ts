/**
 * The routers that agents see as models, for tools and for the audit.
 *
 * @module
 */

import type { Host } from '../engine/host.ts'
import type { Route } from '../engine/route.ts'
import type { Resource } from './resource.ts'
import { servedBy } from './serving.ts'

/** What agents may do with records, and by which route of a router: its method and path. */
export const AGENT_ROUTES: Readonly<Record<string, string>> = {
  list: 'QUERY',
  create: 'POST',
  read: 'GET /:id',
  update: 'PATCH /:id',
  remove: 'DELETE /:id',
}

/** One router: the model of agents that its mount names. */
export interface Served {
  readonly mount: string
  readonly resource: Resource
  /** By method and path. */
  readonly routes: { [route: string]: Route }
}

/** The routers of an app that agents see, by mount. Accounts are not there, nor mounts with parameters. */
export function servedIn({ mounted, accounts }: Host): ReadonlyMap<unknown, Served> {
  const all = new Map<unknown, Served>()
  for (const { mount, routes } of mounted) {
    for (const route of routes) {
      const { resource } = servedBy(route.handler) ?? {}
      if (!resource || mount.includes(':') || accounts.has(resource.model)) continue
      const served = all.get(mount) ?? { mount, resource, routes: {} }
      served.routes[`${route.method} ${route.path}`.trim()] ??= route
      all.set(mount, served)
    }
  }
  return all
}
