/** An OpenID provider: where to send the browser, and what its answer says of the person. */

import * as oauth from 'oauth4webapi'
import { fetchLimited, fetchPaused, withParameters } from '../../../src/auth/providers/ask.ts'
import { providerId } from '../../../src/auth/providers/provider.ts'
import { providerUnreachable } from '../../../src/auth/refusals.ts'
import { objectIn } from '../../../src/http/base64url.ts'
import { HttpError } from '../../../src/http/errors/errors.ts'
import { startedOnce } from '../../../src/ports/values/once.ts'
import type { OidcOptions } from './options.ts'

/** What a browser brings back, as it was when the sign-in began. */
export interface Ceremony {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  readonly redirectUri: string
  readonly returnTo: string
  /** What the client keeps the secret of: only who has it can use the code. */
  readonly challenge?: string
  /** Epoch milliseconds. */
  readonly until: number
}

export interface Person {
  readonly sub: string
  /** The issuer of the person's tenant, where the provider is that of many. */
  readonly issuer?: string | undefined
  readonly email?: string | undefined
  readonly isVouched: boolean
  readonly name?: string | undefined
}

const KEPT_MS = 3_600_000
const TOLERANCE_SECONDS = 5
const DEADLINE_MS = 8000
const MAX_NAME_LENGTH = 200
const MAX_EMAIL_LENGTH = 254

/** A provider, whose own description is read when it is first used. */
export class OpenIdProvider {
  readonly options: OidcOptions
  readonly #now: () => number
  readonly #fetchDescription = fetchPaused()
  #known:
    | { readonly at: number; readonly server: () => Promise<oauth.AuthorizationServer> }
    | undefined

  constructor(options: OidcOptions, now: () => number) {
    this.options = options
    this.#now = now
  }

  async destination({ state, nonce, verifier, redirectUri }: Ceremony): Promise<string> {
    const { authorization_endpoint: endpoint } = await this.#server()
    const { maxAge, parameters } = this.options
    return withParameters(String(endpoint), {
      ...parameters,
      ...(maxAge !== undefined && { max_age: `${maxAge}` }),
      response_type: 'code',
      client_id: this.options.clientId,
      redirect_uri: redirectUri,
      scope: [...new Set(['openid', ...this.#scopes])].join(' '),
      ...{ state, nonce, code_challenge: await oauth.calculatePKCECodeChallenge(verifier) },
      code_challenge_method: 'S256',
    })
  }

  /** The person whom the answer in `parameters` is about. Throws for any answer that is not right. */
  async person(parameters: URLSearchParams, ceremony: Ceremony): Promise<Person> {
    const server = await this.#server()
    const client = this.#client()
    // Compares the issuer, too, before the code is sent anywhere.
    const answering = tenantOf(server, parameters.get('iss'))
    const answer = oauth.validateAuthResponse(answering, client, parameters, ceremony.state)
    const calls = callsTo(this.options)
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      this.#authentication(server),
      answer,
      ceremony.redirectUri,
      ceremony.verifier,
      calls,
    )
    const tenant = tenantOf(server, await issuerIn(response))
    const tokens = await oauth.processAuthorizationCodeResponse(tenant, client, response, {
      expectedNonce: ceremony.nonce,
      requireIdToken: true,
      ...(this.options.maxAge !== undefined && { maxAge: this.options.maxAge }),
    })
    // The library leaves this out, because the token came from the provider itself. A proxy may have come between.
    await oauth.validateApplicationLevelSignature(server, response, calls)
    const token = oauth.getValidatedIdTokenClaims(tokens) as oauth.IDToken
    const sub = providerId(token.sub)
    // Many providers tell the address only to those who ask for it with the access token.
    const isElsewhere =
      token.email === undefined &&
      server.userinfo_endpoint !== undefined &&
      this.#scopes.includes('email')
    const claims = isElsewhere
      ? await this.#userInfo(server, tokens.access_token, sub, calls)
      : token
    const person = personIn(sub, claims)
    // Whoever runs a tenant says which addresses its people have.
    return tenant === server ? person : { ...person, isVouched: false, issuer: tenant.issuer }
  }

  get #scopes(): readonly string[] {
    return this.options.scopes ?? ['email', 'profile']
  }

  async #userInfo(
    server: oauth.AuthorizationServer,
    token: string,
    sub: string,
    calls: ReturnType<typeof callsTo>,
  ) {
    const client = this.#client()
    const response = await oauth.userInfoRequest(server, client, token, calls)
    const isSigned = response.headers.get('content-type')?.startsWith('application/jwt') === true
    const claims = await oauth.processUserInfoResponse(server, client, sub, response)
    if (isSigned) await oauth.validateApplicationLevelSignature(server, response, calls)
    return claims
  }

  #server(): Promise<oauth.AuthorizationServer> {
    const at = this.#now()
    if (!this.#known || at - this.#known.at >= KEPT_MS) {
      this.#known = { at, server: startedOnce(() => this.#discovered()) }
    }
    return this.#known.server()
  }

  async #discovered(): Promise<oauth.AuthorizationServer> {
    const issuer = new URL(this.options.issuer)
    try {
      const response = await oauth.discoveryRequest(
        issuer,
        callsTo(this.options, this.#fetchDescription),
      )
      const { issuer: told } = await membersOf(response)
      const expected = isOf(this.options.issuer, told) ? new URL(`${told}`) : issuer
      return await oauth.processDiscoveryResponse(expected, response)
    } catch (error) {
      throw error instanceof HttpError ? error : providerUnreachable(error)
    }
  }

  #client(): oauth.Client {
    return {
      client_id: this.options.clientId,
      [oauth.clockTolerance]: TOLERANCE_SECONDS,
      [oauth.clockSkew]: Math.round((this.#now() - Date.now()) / 1000),
    }
  }

  /** In the header, unless the provider takes it only in the body. */
  #authentication({
    token_endpoint_auth_methods_supported: taken = ['client_secret_basic'],
  }: oauth.AuthorizationServer): oauth.ClientAuth {
    const { clientSecret } = this.options
    if (clientSecret === undefined) return oauth.None()
    const isInBody = !taken.includes('client_secret_basic') && taken.includes('client_secret_post')
    return isInBody ? oauth.ClientSecretPost(clientSecret) : basic(clientSecret)
  }
}

/** What stands for the tenant in the issuer that Microsoft's `common` and the like describe. */
const TENANT = '{tenantid}'

/** Whether `issuer` is that of one tenant in `template`. */
function isOf(issuer: unknown, template: unknown): boolean {
  const [start = '', end] = String(template).split(TENANT)
  if (end === undefined) return false
  const tenant = String(issuer).slice(start.length, -end.length || undefined)
  return /^[\w-]+$/.test(tenant) && issuer === `${start}${tenant}${end}`
}

/** The server as the tenant whose issuer this is, where it is that of many. */
function tenantOf(server: oauth.AuthorizationServer, issuer: unknown): oauth.AuthorizationServer {
  if (!server.issuer.includes(TENANT)) return server
  return { ...server, issuer: isOf(issuer, server.issuer) ? String(issuer) : 'of no tenant' }
}

/** The issuer that the ID token in a response names. Its signature is checked later, by the keys that all tenants share. */
async function issuerIn(response: Response): Promise<unknown> {
  const { id_token: token } = await membersOf(response)
  return objectIn(String(token).split('.')[1] ?? '')?.iss
}

/** The members of the JSON in a response, which can still be read. */
async function membersOf(response: Response): Promise<Readonly<Record<string, unknown>>> {
  const copy = response.clone()
  return Object(await copy.json().catch(() => undefined))
}

/** How a provider is asked; the deadline is that of all calls together. */
function callsTo({ issuer }: OidcOptions, fetch: typeof fetchLimited = fetchLimited) {
  return {
    [oauth.customFetch]: fetch as (url: string, init: object) => Promise<Response>,
    // Start-up has made sure that such an issuer is on this machine.
    [oauth.allowInsecureRequests]: issuer.startsWith('http:'),
    signal: AbortSignal.timeout(DEADLINE_MS),
  }
}

/**
 * HTTP Basic (RFC 6749 §2.3.1). The library escapes `-`, `_`, `.` and `~` too; providers that don't decode what they get would
 * refuse most secrets.
 */
function basic(secret: string): oauth.ClientAuth {
  return (_server, { client_id: id }, _body, headers) => {
    const [name, password] = [id, secret].map(encodeURIComponent)
    headers.set('authorization', `Basic ${btoa(`${name}:${password}`)}`)
  }
}

function personIn(sub: string, claims: Readonly<Record<string, unknown>>): Person {
  const { email, email_verified: isVouched, name } = claims
  const isUsable = typeof email === 'string' && email !== '' && email.length <= MAX_EMAIL_LENGTH
  return {
    sub,
    ...(isUsable && { email }),
    isVouched: isUsable && isVouched === true,
    ...(typeof name === 'string' && name !== '' && { name: name.slice(0, MAX_NAME_LENGTH) }),
  }
}
