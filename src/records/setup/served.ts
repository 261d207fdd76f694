/**
 * Which handlers serve which resource, for descriptions of an app.
 *
 * @module
 */

import type { Handler } from '../engine/route.ts'
import type { Resource } from './resource.ts'

/** One of the six routes of a resource. */
export interface Served {
  readonly resource: Resource
  readonly operation: 'list' | 'query' | 'create' | 'read' | 'update' | 'delete'
}

const known = new WeakMap<Handler, Served>()

/** Notes what `handler` serves, and returns it. */
export function serving(
  resource: Resource,
  operation: Served['operation'],
  handler: Handler,
): Handler {
  known.set(handler, { resource, operation })
  return handler
}

/** What `handler` serves; undefined if it is not a route of a resource. */
export function servedBy(handler: Handler): Served | undefined {
  return known.get(handler)
}
