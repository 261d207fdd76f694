/**
 * What works methods. `defineMethod` puts it into each, so the bundle of an app without methods has none of it.
 *
 * @module
 */

import type { Machinery } from '../instance.ts'
import { invalidCredentials, invalidTicket, notActive } from '../refusals.ts'
import { login } from '../routes/login.ts'
import type { Method, MethodDefinition, MethodRoute } from '../setup/method.ts'
import { confirmSession } from '../sign-in/confirm-session.ts'
import { Factors } from '../sign-in/factors.ts'
import { accountsFor } from './accounts.ts'

/** Confirms the present session by what signs in to its account; every app with methods has it. */
const confirmRoute: MethodRoute = {
  name: 'confirmLogin',
  method: 'POST',
  path: '/login/confirm',
  access: 'signed in',
  enrols: true,
  hidesAccounts: true,
  summary: 'Makes the present session recent, by what signs in to its account',
  refusals: [invalidCredentials(), invalidTicket(), notActive()],
}

const machinery: Machinery = {
  routes: [confirmRoute],
  accountsFor,
  confirmSession,
  factorsOf({ methods, settings, users, sessions }) {
    const all = methods.flatMap(({ secondFactors = [] }) => secondFactors)
    return new Factors(all, settings.requiredFor, { users, sessions })
  },
  handlerOf(auth, route) {
    if (route === confirmRoute) return (request) => login(auth, request, request.auth?.userId)
    const { name } = route
    const [handler] = auth.methods.flatMap(({ handlers }) =>
      Object.hasOwn(handlers, name) ? [handlers[name]] : [],
    )
    if (!handler) throw new TypeError(`Auth: 'methods' has a route '${name}' without a handler`)
    return (request) => handler(request)
  },
}

/**
 * Makes a way to sign in of your own, for the option `methods` of `createAuthRouter`.
 *
 * ```ts
 * const links = defineMethod({ name: 'links', routes: [], open: () => ({ handlers: {} }) })
 * const auth = createAuthRouter({ model: User, token: { secret }, methods: [links] })
 * ```
 */
export function defineMethod<const N extends string>(method: MethodDefinition<N>): Method<N> {
  return { ...method, machinery }
}
