/**
 * The calls for the routes of methods: loaded when the first of them is called.
 *
 * @module
 */

import { register, signIn } from './ceremonies.ts'
import type { MethodCalls, OidcCeremonies } from './method-calls.ts'
import { begin, finish } from './oidc.ts'
import type { Result } from './results.ts'
import type { AskRoute } from './routes.ts'

/** The method and the path of each route, and marks, as in routes.ts. */
const ROUTES: Readonly<Record<keyof MethodCalls, string>> = {
  confirmLogin: 'POST /login/confirm !',
  listKeys: 'GET /keys -',
  createKey: 'POST /keys',
  deleteKey: 'DELETE /keys/:id -',
  deleteUserKeys: 'DELETE /users/:id/keys -',
  createTotp: 'POST /totp -',
  confirmTotp: 'POST /totp/confirm',
  deleteTotp: 'DELETE /totp -',
  createRecoveryCodes: 'POST /recovery-codes -',
  sendLoginCode: 'POST /login/code !',
  beginPasskey: 'POST /passkeys/options -',
  createPasskey: 'POST /passkeys',
  listPasskeys: 'GET /passkeys -',
  renamePasskey: 'PATCH /passkeys/:id',
  deletePasskey: 'DELETE /passkeys/:id -',
  beginPasskeyLogin: 'POST /login/passkey/options !',
  passkeyLogin: 'POST /login/passkey !',
  oidcLogin: 'POST /login/oidc !',
}

/** Calls the route of a method of the auth router at `base`, or does a ceremony. */
export async function callMethod(
  ask: AskRoute,
  name: string,
  given: unknown[],
  base: string,
): Promise<Result<unknown, unknown> | undefined> {
  const asking = (route: string, ...values: unknown[]) =>
    ask(route, values, ROUTES[route as keyof MethodCalls])
  const [options] = given as [object?]
  if (name === 'register') return register(asking, options)
  if (name === 'signIn') return signIn(asking, options)
  if (name === 'begin') return begin(base, ...(given as Parameters<OidcCeremonies['begin']>))
  if (name === 'finish') return finish(asking)
  if (!Object.hasOwn(ROUTES, name)) throw new TypeError(`the client has no call '${name}'`)
  return asking(name, ...given)
}
