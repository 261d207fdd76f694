/**
 * A real OpenID provider on this machine (`oidc-provider`), which signs in whom it is told to, and gives its key away
 * to tests that forge tokens.
 *
 * @module
 */

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import Provider from 'oidc-provider'

/** The body of a sign-in with a token, with the nonce that the client has chosen for it, if any. */
export function credentialsOf(idToken: unknown): { idToken: unknown; nonce?: unknown } {
  const [, payload = ''] = String(idToken).split('.')
  const { nonce } = /^[\w-]{3,}$/.test(payload)
    ? JSON.parse(Buffer.from(payload, 'base64url').toString())
    : {}
  return nonce === undefined ? { idToken } : { idToken, nonce }
}

/** What the provider knows of a person. */
export interface Person {
  readonly email?: string
  readonly email_verified?: unknown
  readonly name?: string
}

/** A running provider. */
export interface OpenId {
  readonly issuer: string
  readonly jwks: string
  /** Requests for the keys so far. */
  readonly fetches: () => number
  /** The public key as PEM-like text, for tokens that are signed with it as a secret. */
  readonly publicKey: Uint8Array
  /** An id token that the provider itself issues, by its implicit flow. */
  idToken(clientId: string, sub: string, person: Person): Promise<string>
  /** A token signed with the provider's key, whatever it says. */
  forge(claims: JWTPayload, header?: object): Promise<string>
  stop(): Promise<void>
}

const redirectUri = 'https://app.example.com/callback'

/** Starts a provider that knows the clients. */
export async function startOpenId(clientIds: readonly string[]): Promise<OpenId> {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })
  const key = { ...(await exportJWK(privateKey)), kid: 'first', alg: 'RS256', use: 'sig' }
  const people = new Map<string, Person>()
  let provider: Provider | undefined
  let fetches = 0
  const server: Server = createServer((request, response) => {
    // A connection that is kept may be closed just when the next request goes out on it.
    response.shouldKeepAlive = false
    if (request.url?.startsWith('/jwks')) fetches += 1
    if (request.url?.startsWith('/interaction/'))
      void finish(provider as Provider, request, response)
    else void provider?.callback()(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  provider = new Provider(issuer, {
    clients: clientIds.map((client_id) => ({
      client_id,
      application_type: 'web',
      token_endpoint_auth_method: 'none',
      redirect_uris: [redirectUri],
      response_types: ['id_token'],
      grant_types: ['implicit'],
    })),
    responseTypes: ['id_token'],
    jwks: { keys: [key] },
    cookies: { keys: ['only for this test'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    conformIdTokenClaims: false,
    ttl: { Interaction: 600, Session: 600, Grant: 600, IdToken: 600 },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (_, sub) => ({
      accountId: sub,
      claims: async () => ({ sub, ...people.get(sub) }) as never,
    }),
  })
  return {
    issuer,
    jwks: `${issuer}/jwks`,
    fetches: () => fetches,
    publicKey: new TextEncoder().encode(JSON.stringify(await exportJWK(publicKey))),
    async idToken(clientId, sub, person) {
      people.set(sub, person)
      const query = new URLSearchParams({
        client_id: clientId,
        response_type: 'id_token',
        redirect_uri: redirectUri,
        scope: 'openid email profile',
        // Two sign-ins of a person in one second would else get the same token, which counts once.
        nonce: randomUUID(),
        login_hint: sub,
        prompt: 'login',
      })
      const at = await followed(`${issuer}/auth?${query}`, redirectUri)
      return new URLSearchParams(new URL(at).hash.slice(1)).get('id_token') ?? `none: ${at}`
    },
    forge: (claims, header = {}) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'RS256', kid: 'first', ...header })
        .sign(privateKey),
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Signs in whom the request hints at, unless that is nobody, and consents to everything. */
export async function finish(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { params, prompt, session } = await provider.interactionDetails(request, response)
  if (params.login_hint === 'nobody') {
    return provider.interactionFinished(request, response, { error: 'access_denied' })
  }
  if (prompt.name === 'login') {
    const login = { accountId: String(params.login_hint) }
    return provider.interactionFinished(request, response, { login })
  }
  const grant = new provider.Grant({
    accountId: String(session?.accountId),
    clientId: String(params.client_id),
  })
  grant.addOIDCScope('openid email profile')
  const consent = { grantId: await grant.save() }
  return provider.interactionFinished(
    request,
    response,
    { consent },
    { mergeWithLastSubmission: true },
  )
}

/** Where a chain of redirects with cookies leads, outside of the provider: to a URL that begins with `end`. */
export async function followed(start: string, end: string): Promise<string> {
  const cookies = new Map<string, string>()
  let at = start
  for (let hops = 0; hops < 20 && !at.startsWith(end); hops += 1) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(at, { redirect: 'manual', headers: { cookie } })
    for (const set of response.headers.getSetCookie()) {
      const [pair = ''] = set.split(';')
      cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1))
    }
    const location = response.headers.get('location')
    if (!location) throw new Error(`${response.status}: ${await response.text()}`)
    at = new URL(location, at).href
  }
  return at
}
