/**
 * The routers that agents see as models, for tools and for the audit.
 *
 * @module
 */

import type { Host } from '../engine/host.ts'
import type { Route } from '../engine/route.ts'
import type { Resource } from './resource.ts'
import { servedBy } from './serving.ts'

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
