/**
 * Guards and handlers: the functions that a deployer writes.
 *
 * @module
 */

import type { ApiRequest, RequestContext } from '../../http/request.ts'
import type { RecordStore } from './record-store.ts'

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

/**
 * Responds to a route. A handler that returns nothing leaves the request to the next route that matches, if that is no
 * wider: `/featured` never leaves it to `/:id`. When nobody responds it is a 404.
 */
export type Handler = Guard

/** One row of the route table, its path relative to the mount. */
export interface Route {
  readonly method: string
  /** `''` for the mount itself, `/:id` for a record. */
  readonly path: string
  readonly guards: readonly Guard[]
  readonly handler: Handler
  /** The guards that all routes of the router share; they are among `guards`, and also run for OPTIONS and 405. */
  readonly shared?: readonly Guard[]
  /** Whether the route reads records, which a client may keep but has to ask about again. */
  readonly isRead?: boolean
  /** Methods for which the path does not exist (404) although it has others; elsewhere an unknown method is a 405. */
  readonly absent?: readonly string[]
  /** On a QUERY route: the media types that it takes, for the `Accept-Query` of OPTIONS. */
  readonly acceptQuery?: string
}
