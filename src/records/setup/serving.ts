/** Which handlers serve which resource, for descriptions of an app, and which of them agents see. */

import type { Host } from '../engine/host.ts'
import type { Handler, Route } from '../engine/route.ts'
import type { Resource } from './resource.ts'

export interface Serving {
  readonly resource: Resource
  readonly operation:
    | ('list' | 'query' | 'create' | 'read' | 'update' | 'delete')
    | ('history' | 'restore')
}

const known = new WeakMap<Handler, Serving>()

/** Notes what `handler` serves, and returns it. */
export function serving(
  resource: Resource,
  operation: Serving['operation'],
  handler: Handler,
): Handler {
  known.set(handler, { resource, operation })
  return handler
}

/** What `handler` serves; undefined if it is not a route of a resource. */
export function servedBy(handler: Handler): Serving | undefined {
  return known.get(handler)
}

/** What agents may do with records, and by which route of a router: its method and path. */
export const AGENT_ROUTES: Readonly<Record<string, string>> = {
  list: 'QUERY ',
  create: 'POST ',
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
  // By name: the list of users has a model of its own, in which more is hidden.
  const hidden = new Set([...accounts.keys()].map(({ name }) => name))
  for (const { mount: path, routes } of mounted) {
    const mount = path || '/'
    for (const route of routes) {
      const { resource } = servedBy(route.handler) ?? {}
      if (!resource || mount.includes(':') || hidden.has(resource.model.name)) continue
      const served = all.get(mount) ?? { mount, resource, routes: {} }
      served.routes[`${route.method} ${route.path}`] ??= route
      all.set(mount, served)
    }
  }
  return all
}

type QueryUse = 'filter' | 'sort' | 'search' | 'expand' | 'by' | 'aggregate'

/** The fields that a QUERY of `resource` may name, by what they do there. */
export function queryFields(resource: Resource): Readonly<Record<QueryUse, readonly string[]>> {
  const { filterable, sortable, search, expandable, aggregates } = resource
  return {
    filter: [...filterable],
    sort: [...sortable],
    search: search.map((one) => ('field' in one ? one.field : `${one.reference}.${one.path}`)),
    expand: [...expandable.keys()],
    by: [...aggregates.by.keys()],
    aggregate: [...aggregates.of.keys()],
  }
}
