/** Which handlers serve which route of the authentication API, for descriptions of an app. */

import type { Guard, Handler } from '../../records/engine/route.ts'
import type { AuthInstance, AuthRoute } from '../instance.ts'
import type { MethodRoute } from '../setup/method.ts'

/** A route of an instance. */
export interface ServedRoute {
  readonly auth: AuthInstance
  readonly route: AuthRoute | MethodRoute
  /** The guards that demand something, without those that take notes. */
  readonly guards: readonly Guard[]
}

const known = new WeakMap<Handler, ServedRoute>()

/** Notes what `handler` serves. */
export function servesRoute(handler: Handler, served: ServedRoute): void {
  known.set(handler, served)
}

/** The route that `handler` serves; undefined if it is not one of the authentication API. */
export function routeServedBy(handler: Handler): ServedRoute | undefined {
  return known.get(handler)
}

/** Whether a route comes from `methods`. */
export function isOfMethod(route: ServedRoute['route']): route is MethodRoute {
  return 'summary' in route
}
