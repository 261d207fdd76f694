/**
 * The handlers of methods' routes.
 *
 * @module
 */

import type { Handler } from '../../records/engine/route.ts'
import type { AuthInstance } from '../instance.ts'
import { login } from '../routes/login.ts'
import type { MethodRoute } from '../setup/method.ts'
import { confirmRoute } from '../setup/methods.ts'

/** The handler of `route` in an instance. */
export function methodHandler(auth: AuthInstance, route: MethodRoute): Handler {
  if (route === confirmRoute) return (request) => login(auth, request, request.auth?.userId)
  const { name } = route
  const handler = auth.methods.find(({ handlers }) => Object.hasOwn(handlers, name))?.handlers[name]
  if (!handler) throw new TypeError(`Auth: 'methods' has a route '${name}' without a handler`)
  return (request) => handler(request)
}
