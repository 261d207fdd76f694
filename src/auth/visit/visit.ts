/**
 * What the auth routes know of a request besides the HTTP message: its route, its client, and what goes on after it.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import { RequestData } from '../../http/request-data.ts'
import type { Guard } from '../../records/engine/route.ts'
import { clientOf } from '../setup/client.ts'
import type { RouteName } from '../setup/options.ts'
import type { AuthSettings } from '../setup/settings.ts'

/** A request at an auth route. */
export interface Visit {
  readonly route: RouteName
  /** The client that sends it, by the `client` option; undefined if it is unknown. */
  readonly client: string | undefined
  /** Keeps the runtime alive until `work` settles. */
  later(work: Promise<unknown>): void
}

const visits = new RequestData<Visit>('visit')

/** The first guard of every route: records the visit. */
export function noteVisit(settings: AuthSettings, route: RouteName): Guard {
  return (request, context) => {
    const client = clientOf(settings.client, request, context)
    visits.set(request, { route, client, later: (work) => context.waitUntil(work) })
  }
}

/** The visit of a request at an auth route. */
export function visitOf(request: ApiRequest): Visit {
  const visit = visits.of(request)
  if (!visit) throw new TypeError('a request must be passed on as the app gave it')
  return visit
}
