/**
 * Guards and handlers: the functions that a deployer writes.
 *
 * @module
 */

import type { ApiRequest, RequestContext } from '../http/request.ts'
import type { RecordStore } from './collection.ts'

/** What a guard or handler receives beside the request. */
export interface Context extends RequestContext {
  /** The app's records, for code that reads and writes them beyond the routes. */
  readonly store: RecordStore
}

/** Runs before a route; returning a Response ends the request, throwing an `HttpError` refuses it. */
export type Guard = (
  request: ApiRequest,
  context: Context,
) => Response | undefined | void | Promise<Response | undefined | void>

/** Answers a route; a handler that returns nothing leaves the request to the next route that matches. */
export type Handler = Guard

/** One row of the route table, its path relative to the mount. */
export interface Route {
  readonly method: string
  /** `''` for the mount itself, `/:id` for a record. */
  readonly path: string
  readonly guards: readonly Guard[]
  readonly handler: Handler
}
