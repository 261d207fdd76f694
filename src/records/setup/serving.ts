/** Which handlers serve which resource, for descriptions of an app. */

import type { Handler } from '../engine/route.ts'
import type { Resource } from './resource.ts'

/** One of the routes of a resource. */
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
