/**
 * What the auth routes know of a request besides the HTTP message: its route, its client, and what goes on after it.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import { RequestData } from '../../http/request-data.ts'
import type { Guard } from '../../records/engine/route.ts'
import { type ClientOption, clientOf } from '../setup/client.ts'
import type { MethodRouteName, RouteName } from '../setup/route-names.ts'

/** A request at an auth route. */
export interface AuthRequestInfo {
  readonly route: RouteName | MethodRouteName
  /** The client that sends it, by the `client` option; undefined if it is unknown. */
  readonly client: string | undefined
  /** Keeps the runtime alive until `work` settles. */
  later(work: Promise<unknown>): void
}

const notes = new RequestData<AuthRequestInfo>('auth request')

/** The first guard of every route: notes what is known of the request. */
export function noteRequest(option: ClientOption, route: RouteName | MethodRouteName): Guard {
  return (request, context) => {
    const client = clientOf(option, request, context)
    notes.set(request, { route, client, later: (work) => context.waitUntil(work) })
  }
}

/** What is known of a request at an auth route. */
export function requestInfo(request: ApiRequest): AuthRequestInfo {
  const info = notes.of(request)
  if (!info) throw new TypeError('a request must be passed on as the app gave it')
  return info
}
