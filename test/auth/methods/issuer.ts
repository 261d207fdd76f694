/**
 * An issuer that says whatever a test wants: its description, its keys, ID tokens with any claims and headers, and what it
 * tells of people besides. The honest one in the tests is `oidc-provider`; see real-issuer.ts.
 *
 * @module
 */

import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { base64url, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { onTestFinished } from 'vitest'
import type { Fields } from '../../../src/index.ts'

/** What the issuer says next. */
export interface Say {
  /** Claims of the ID token besides those of an honest one; undefined leaves one out. */
  claims?: Fields
  /** Signs in another way: the header, and by whom. */
  header?: Fields
  by?: 'another key' | 'the public key as a secret' | 'nobody'
  /** What the endpoint for more about the person responds, and by whose key it is signed, if it is. */
  userInfo?: Fields
  userInfoBy?: 'its own key' | 'another key'
  /** Members of its description. */
  description?: Fields
  /** What the pages of its description and of its keys respond instead. */
  described?: { readonly status: number; readonly body: Fields }
  keys?: { readonly status: number; readonly body: Fields }
  /** What the token endpoint responds instead. */
  tokens?: { readonly status: number; readonly body: Fields }
}

/** A running issuer. */
export interface Issuer {
  readonly url: string
  /** What it says next. */
  say: Say
  /** The bodies that its token endpoint got. */
  readonly asked: URLSearchParams[]
  /** The `Authorization` headers that its token endpoint got. */
  readonly secrets: (string | undefined)[]
  /** How often its description was read. */
  described: number
  /** Its public keys, as it tells them, and how often they were read. */
  published: readonly Fields[]
  keysRead: number
  /** Signs with a new key from now on, which is called `kid`, and which alone it tells. */
  rotate(kid: string): Promise<void>
  /** An ID token, as it would give it now. */
  idToken(): Promise<string>
}

/** Starts an issuer that signs with `alg`; `now` is the app's clock. It stops when the test ends. */
export async function startIssuer(
  now: () => number = Date.now,
  usual: 'ES256' | 'RS256' = 'ES256',
): Promise<Issuer> {
  const newKeys = () => generateKeyPair(usual, { extractable: true })
  const other = await newKeys()
  let [own, kid] = [other, '']
  const issuer: Issuer = {
    ...{ url: '', say: {}, asked: [], secrets: [], described: 0, published: [], keysRead: 0 },
    async rotate(name) {
      own = await newKeys()
      kid = name
      issuer.published = [{ ...(await exportJWK(own.publicKey)), kid, alg: usual, use: 'sig' }]
    },
    idToken,
  }
  await issuer.rotate('one')

  async function idToken(): Promise<string> {
    const { claims, header, by } = issuer.say
    const seconds = Math.floor(now() / 1000)
    const honest = { iss: issuer.url, aud: 'atlas', sub: 'ann', iat: seconds, exp: seconds + 300 }
    const payload = { ...honest, ...claims } as JWTPayload
    const alg = by === 'the public key as a secret' ? 'HS256' : by === 'nobody' ? 'none' : usual
    const headers = { alg, kid, ...header }
    if (by === 'nobody') {
      const parts = [headers, payload].map((part) => base64url.encode(JSON.stringify(part)))
      return `${parts.join('.')}.`
    }
    const secret = new TextEncoder().encode(String(JSON.stringify(issuer.published[0])).padEnd(32))
    const signer =
      by === 'another key' ? other.privateKey : alg === 'HS256' ? secret : own.privateKey
    return new SignJWT(payload).setProtectedHeader(headers as never).sign(signer as never)
  }

  async function tokens(request: IncomingMessage): Promise<[number, Fields]> {
    let body = ''
    for await (const chunk of request) body += chunk
    issuer.asked.push(new URLSearchParams(body))
    issuer.secrets.push(request.headers.authorization)
    const { say } = issuer
    if (say.tokens) return [say.tokens.status, say.tokens.body]
    return [200, { access_token: 'access', token_type: 'Bearer', id_token: await idToken() }]
  }

  async function userInfo(): Promise<Fields | string> {
    const { claims, userInfo, userInfoBy } = issuer.say
    const told = { sub: claims?.sub ?? 'ann', ...userInfo }
    if (!userInfoBy) return told
    const { privateKey } = userInfoBy === 'another key' ? other : own
    const signed = new SignJWT({ iss: issuer.url, aud: 'atlas', ...told } as JWTPayload)
    return signed.setProtectedHeader({ alg: usual, kid }).sign(privateKey)
  }

  /** What a page of the issuer responds: a status and JSON, or a JWT. */
  async function answer(
    path: string,
    request: IncomingMessage,
  ): Promise<[number, Fields | string]> {
    const { say, url } = issuer
    if (path === '/jwks') {
      issuer.keysRead += 1
      return say.keys ? [say.keys.status, say.keys.body] : [200, { keys: issuer.published }]
    }
    if (path === '/me') return [200, await userInfo()]
    if (path === '/token') return tokens(request)
    issuer.described += 1
    if (say.described) return [say.described.status, say.described.body]
    return [
      200,
      {
        issuer: url,
        authorization_endpoint: `${url}/authorize?tenant=1`,
        token_endpoint: `${url}/token`,
        jwks_uri: `${url}/jwks`,
        userinfo_endpoint: `${url}/me`,
        id_token_signing_alg_values_supported: ['ES256', 'HS256', 'none'],
        userinfo_signing_alg_values_supported: ['ES256'],
        ...say.description,
      },
    ]
  }

  const server = createServer(async (request, response) => {
    response.shouldKeepAlive = false
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://issuer')
    if (pathname === '/authorize') {
      response.writeHead(302, { location: authorized(issuer, searchParams) })
      response.end()
      return
    }
    const [status, body] = await answer(pathname, request)
    const isJwt = typeof body === 'string'
    response.writeHead(status, { 'content-type': `application/${isJwt ? 'jwt' : 'json'}` })
    response.end(isJwt ? body : JSON.stringify(body))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  Object.assign(issuer, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return issuer
}

/** Where a browser goes that is signed in here: back at once. */
function authorized(issuer: Issuer, asked: URLSearchParams): string {
  const { redirect_uri = '', state = '', nonce } = Object.fromEntries(asked)
  const { claims } = issuer.say
  issuer.say = { ...issuer.say, claims: { ...claims, nonce } }
  const denied = claims === undefined
  const answer = {
    state,
    iss: issuer.url,
    ...(denied ? { error: 'access_denied' } : { code: 'c' }),
  }
  return `${redirect_uri}?${new URLSearchParams(answer)}`
}
