/**
 * Accounts with every way to sign in, and an issuer that this process asks: what it tells is signed here.
 *
 * @module
 */

import { oidc } from '../../../adapters/methods/oidc/index.ts'
import { passkeys } from '../../../adapters/methods/passkeys/index.ts'
import { type App, createAuthRouter, createRouter, defineModel } from '../../../src/index.ts'
import { apiKeys } from '../../../src/methods/api-keys/index.ts'
import { totp } from '../../../src/methods/totp/index.ts'
import { cheap } from '../../auth/accounts.ts'

const ISSUER = 'https://issuer.example'
const Errand = defineModel('Errand', { fields: {} })

/** `app` with the accounts at `/ways`, and records that only they reach at `/errands`. */
export function withWays(app: App): App {
  const auth = createAuthRouter({
    name: 'Wayfarer',
    token: { secret: 'a secret for tests, 32 characters or more' },
    refresh: { enabled: true },
    // The accounts of the atlas have scrypt on each runtime.
    password: { ...cheap, check: () => undefined },
    methods: [
      apiKeys(),
      passkeys({ rpId: 'example.com', rpName: 'Ways', origins: ['https://example.com'] }),
      totp({ issuer: 'Ways' }),
      oidc({ name: 'company', issuer: ISSUER, clientId: 'ways', returnTo: ['/in'] }),
    ],
    onSecurityEvent: () => {},
  })
  answerForIssuer()
  return app
    .mount('/ways', auth.router)
    .mount('/errands', createRouter({ model: Errand, middlewares: [auth.requireAuth] }))
}

let isAnswered = false

/** Requests to the issuer never leave the process. Its codes are the nonces of its ID tokens. */
function answerForIssuer(): void {
  if (isAnswered) return
  isAnswered = true
  const others = globalThis.fetch
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  let pair: Promise<CryptoKeyPair> | undefined
  const issuer = async (url: URL, init: RequestInit | undefined): Promise<object> => {
    // Workers make no keys before the first request.
    pair ??= crypto.subtle.generateKey(algorithm, true, [
      'sign',
      'verify',
    ]) as Promise<CryptoKeyPair>
    const { publicKey, privateKey } = await pair
    if (url.pathname === '/jwks') return { keys: [await crypto.subtle.exportKey('jwk', publicKey)] }
    if (url.pathname !== '/token') {
      return {
        issuer: ISSUER,
        authorization_endpoint: `${ISSUER}/authorize`,
        token_endpoint: `${ISSUER}/token`,
        jwks_uri: `${ISSUER}/jwks`,
        id_token_signing_alg_values_supported: ['ES256'],
      }
    }
    const nonce = new URLSearchParams(String(init?.body)).get('code')
    const iat = Math.floor(Date.now() / 1000)
    const about = { sub: 'bob', email: 'bob@example.com', email_verified: true, nonce }
    const claims = { iss: ISSUER, aud: 'ways', iat, exp: iat + 300, ...about }
    const signed = [{ alg: 'ES256' }, claims].map((part) => encoded(JSON.stringify(part))).join('.')
    const bytes = new TextEncoder().encode(signed)
    const mac = new Uint8Array(await crypto.subtle.sign(algorithm, privateKey, bytes))
    const id_token = `${signed}.${encoded(String.fromCharCode(...mac))}`
    return { access_token: 'a', token_type: 'Bearer', id_token }
  }
  globalThis.fetch = (async (input: RequestInfo | URL, init?: RequestInit) => {
    const url = new URL(input instanceof Request ? input.url : input)
    if (url.origin !== ISSUER) return others(input, init)
    const headers = { 'content-type': 'application/json' }
    return new Response(JSON.stringify(await issuer(url, init)), { headers })
  }) as typeof fetch
}

function encoded(text: string): string {
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}
