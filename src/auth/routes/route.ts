/** Rows of the table of routes. */

import type { ApiRequest } from '../../http/request.ts'
import type { Context, Handler } from '../../records/engine/route.ts'
import { type AuthInstance, type AuthRoute, writtenBy } from '../instance.ts'
import type { Access, RouteName } from '../setup/route-names.ts'

type Work = (auth: AuthInstance, request: ApiRequest, context: Context) => Promise<Response>

/** A row of the table: `at` is its method and its path. */
export function route(
  name: RouteName,
  at: `${string} /${string}`,
  access: Access,
  work: Work,
  more: Partial<AuthRoute> = {},
): AuthRoute {
  const [method = '', path = ''] = at.split(' ')
  const handler = (auth: AuthInstance): Handler => {
    return (request, context) => work(auth, request, context)
  }
  return { name, method, path, access, handler, ...more }
}

/** `work`, whose writes to users are in the log of changes as those of whoever sends the request. */
export function bySender(work: Work): Work {
  return (auth, request, context) => work(writtenBy(auth, request), request, context)
}
