/**
 * `fieldgate/oidc`: signing in at an OpenID provider, such as a company's own or any that speaks OpenID Connect.
 *
 * @module
 */

import { object, optional, string } from 'zod/mini'
import { defineMethod, methodRoute } from '../../../src/auth/machinery.ts'
import * as account from '../../../src/auth/refusals.ts'
import type { Accounts, Method, MethodRoute, OpenMethod } from '../../../src/auth/setup/method.ts'
import { Flow, unknownPlace } from './flow.ts'
import { checkOidcOptions, fail, type OidcOptions } from './options.ts'
import { OpenIdProvider } from './provider.ts'

export type { OidcOptions } from './options.ts'

const ROUTES: readonly MethodRoute[] = [
  methodRoute('beginOidc', 'GET /login/oidc/:name', 'anyone', {
    summary: 'Sends the browser to an OpenID provider, to sign in there',
    query: object({ returnTo: string(), challenge: optional(string()) }),
    status: 302,
    refusals: [
      unknownPlace(),
      account.invalidFormat(),
      account.providerNotEnabled('<name>'),
      account.providerUnreachable(),
    ],
  }),
  methodRoute('finishOidc', 'GET /login/oidc/:name/callback', 'anyone', {
    summary: 'Takes the answer of an OpenID provider, and sends the browser back to the app',
    status: 302,
    refusals: [account.invalidTicket(), account.providerNotEnabled('<name>')],
  }),
  methodRoute('oidcLogin', 'POST /login/oidc', 'anyone', {
    hidesAccounts: true,
    signsIn: true,
    summary: 'Signs in by the code that the browser has brought back from an OpenID provider',
    body: object({ code: string(), verifier: optional(string()) }),
    refusals: [account.invalidCredentials(), account.accountExists()],
  }),
]

/**
 * Sign-in at an OpenID provider, on `oauth4webapi`: the browser goes there and comes back with a code, which your page changes
 * for a session. List one for each provider. Throws a `TypeError` if an option makes no sense.
 *
 * ```ts
 * const company = oidc({
 *   name: 'company',
 *   issuer: 'https://login.example.com',
 *   clientId: 'atlas',
 *   clientSecret: 'a-secret-of-the-provider',
 *   returnTo: ['https://example.com/signed-in'],
 * })
 * const auth = createAuthRouter({ model: User, token: { secret }, methods: [company] })
 * ```
 */
export function oidc(options: OidcOptions): Method<'oidc'> {
  checkOidcOptions(options)
  return defineMethod({
    name: 'oidc',
    part: `oidc ${options.name}`,
    routes: ROUTES,
    provesEmail: true,
    open: (accounts) => opened(accounts, options),
  })
}

const flows = new WeakMap<Accounts, Flow>()

/** All providers of an auth router go through one flow, which the first of them opens. */
function opened(accounts: Accounts, options: OidcOptions): OpenMethod {
  const known = flows.get(accounts)
  const flow = known ?? new Flow(accounts)
  flows.set(accounts, flow)
  const hasAddresses = accounts.newcomer({ identifier: 'a@example.com' }) !== undefined
  if (hasAddresses && !accounts.keepsMailProof) {
    fail("the user model needs the field 'provenEmail' of userFields()")
  }
  flow.providers.set(options.name, new OpenIdProvider(options, accounts.now))
  const { name, returnTo } = options
  const choices = { beginOidc: { name: [name], returnTo }, finishOidc: { name: [name] } }
  if (known) return { handlers: {}, choices }
  return {
    choices,
    handlers: {
      beginOidc: (request) => flow.begin(request),
      finishOidc: (request) => flow.finish(request),
      oidcLogin: async (request) => flow.respond(await accounts.body(request), request),
    },
    signIn: {
      body: object({ oidc: string(), verifier: optional(string()) }),
      takes: (body) => Object.hasOwn(body, 'oidc') && !Object.hasOwn(body, 'ticket'),
      respond: ({ oidc: code, ...body }, request, own) =>
        flow.respond({ ...body, code }, request, own),
    },
    opens: (user) => flow.opens(user),
    forget: (userId) => flow.links.records.forget(userId),
  }
}
