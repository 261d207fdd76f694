/** Google and Apple: OpenID Connect id tokens, checked against the provider's published keys. */

import type { JWTPayload, JWTVerifyGetKey } from 'jose'
import { hexDigestOf } from '#hmac'
import { sameText } from '../../http/base64url.ts'
import type { Fields } from '../../ports/store/records.ts'
import { startedOnce } from '../../ports/values/once.ts'
import { fail } from '../option-checks.ts'
import * as refuse from '../refusals.ts'
import { fetchPaused } from './ask.ts'
import { type Checks, checkedUrl, endpointsOf, type IdTokenOptions, verified } from './provider.ts'

interface Issuer {
  readonly issuers: readonly string[]
  readonly jwks: string
  /** Whether the token's `email_verified` claim vouches for the address. */
  vouches(claim: unknown): boolean
  /** The name, if the provider gives it only to the client. */
  name(claims: JWTPayload, body: Fields): unknown
}

const JWKS_DEADLINE_MS = 5000
/** An unknown key id fetches the keys again at most this often. */
const JWKS_COOLDOWN_MS = 30_000
const TOLERANCE_SECONDS = 5

/** Google: `idToken` and `nonce`. */
export function googleProvider(name: string, settings: IdTokenOptions): Checks {
  return idTokenProvider(name, settings, {
    issuers: ['https://accounts.google.com', 'accounts.google.com'],
    jwks: 'https://www.googleapis.com/oauth2/v3/certs',
    vouches: (claim) => claim === true,
    name: (claims) => claims.name,
  })
}

/** Apple: `idToken`, `nonce`, and `name`, which Apple tells only the client, and only once. */
export function appleProvider(name: string, settings: IdTokenOptions): Checks {
  return idTokenProvider(name, settings, {
    issuers: ['https://appleid.apple.com'],
    jwks: 'https://appleid.apple.com/auth/keys',
    vouches: (claim) => claim === true || claim === 'true',
    name: (_, body) => personName(body.name),
  })
}

function idTokenProvider(name: string, settings: IdTokenOptions, usual: Issuer): Checks {
  const clientIds = [settings.clientId ?? []].flat()
  if (clientIds.length === 0 || clientIds.some((id) => typeof id !== 'string' || id === '')) {
    fail(`'social.${name}' needs 'clientId'`)
  }
  const nonce = nonceRule(name, settings.nonce)
  const urls = endpointsOf(name, settings, { issuer: usual.issuers[0] as string, jwks: usual.jwks })
  const issuers = urls.issuer === usual.issuers[0] ? usual.issuers : [urls.issuer]
  const keys = keySet(checkedUrl(`social.${name}.jwksUrl`, settings.jwksUrl ?? urls.jwks))
  return {
    credentials: ['idToken'],
    companions: ['nonce'],
    singleUse: true,
    async profile(body, now) {
      const token = String(body.idToken)
      const claims = await verifyToken(token, await keys(), issuers, now())
      checkNonce(nonce, claims.nonce, body.nonce)
      const { sub, aud, email } = claims
      // `azp` may be another client of the same project: Google's tokens for Android apps name that.
      if (typeof sub !== 'string') throw refuse.providerRefused()
      if (typeof aud !== 'string' || !clientIds.includes(aud)) throw refuse.providerRefused()
      const said = { email, name: usual.name(claims, body) }
      const signed = token.slice(0, token.lastIndexOf('.'))
      const once = { signed, expiresAt: Number(claims.exp) * 1000 }
      return { ...verified(sub, said, usual.vouches(claims.email_verified)), once }
    },
  }
}

/** The provider's keys; jose is loaded, and the keys are fetched, at the first sign-in. */
function keySet(url: string): () => Promise<JWTVerifyGetKey> {
  return startedOnce(async () => {
    const { createRemoteJWKSet, customFetch } = await import('jose/jwks/remote')
    return createRemoteJWKSet(new URL(url), {
      timeoutDuration: JWKS_DEADLINE_MS,
      cooldownDuration: JWKS_COOLDOWN_MS,
      [customFetch]: fetchPaused(),
    })
  })
}

async function verifyToken(
  token: string,
  keys: JWTVerifyGetKey,
  issuers: readonly string[],
  now: number,
): Promise<JWTPayload> {
  // By their own paths: the whole package is three times as large in a Worker's bundle.
  const [{ jwtVerify }, errors] = await Promise.all([
    import('jose/jwt/verify'),
    import('jose/errors'),
  ])
  try {
    const { payload } = await jwtVerify(token, keys, {
      // Both sign with RSA; a token that names another algorithm was not made by them.
      algorithms: ['RS256'],
      issuer: [...issuers],
      requiredClaims: ['sub', 'aud', 'iat', 'exp'],
      clockTolerance: TOLERANCE_SECONDS,
      currentDate: new Date(now),
    })
    // A token from the future, beyond what clocks differ by, was not made by the provider's clock.
    if (Number(payload.iat) > now / 1000 + TOLERANCE_SECONDS) throw refuse.providerRefused()
    return payload
  } catch (error) {
    // A generic error means that the keys could not be fetched; any other error is the token's fault.
    const keysMissing =
      error instanceof errors.JWKSTimeout ||
      error instanceof errors.JWKSInvalid ||
      (error instanceof errors.JOSEError && error.code === 'ERR_JOSE_GENERIC')
    if (keysMissing) throw refuse.providerUnreachable(error)
    throw error instanceof errors.JOSEError ? refuse.providerRefused() : error
  }
}

const MAX_NAME_LENGTH = 200

function personName(value: unknown): string | undefined {
  const { firstName, lastName } = (typeof value === 'object' && value ? value : {}) as Fields
  const parts = typeof value === 'string' ? [value] : [firstName, lastName]
  const name = parts
    .filter((part) => typeof part === 'string' && part !== '')
    .join(' ')
    .trim()
  return name === '' || name.length > MAX_NAME_LENGTH ? undefined : name
}

type NonceRule = NonNullable<IdTokenOptions['nonce']>

const NONCE_RULES: readonly NonceRule[] = ['checked', 'required', 'hashed', 'ignored']

function nonceRule(provider: string, value: unknown = 'checked'): NonceRule {
  const known = NONCE_RULES.find((rule) => rule === value)
  return known ?? fail(`'social.${provider}.nonce' must be one of ${NONCE_RULES.join(', ')}`)
}

/**
 * Compares a token's claim with the body's nonce (OpenID Connect Core 1.0, 3.1.3.7): it ties the token to the client that
 * requested it, so that a stolen token does not sign in anyone else. Throws a 401.
 */
function checkNonce(rule: NonceRule, claim: unknown, given: unknown): void {
  if (rule === 'ignored') return
  const isGiven = given !== undefined && given !== ''
  if (claim === undefined && !isGiven && rule === 'checked') return
  if (typeof claim !== 'string' || typeof given !== 'string' || !isGiven)
    throw refuse.providerRefused()
  const isHash = sameText(claim, hexDigestOf(given))
  // Anyone who has a token can read its claim; if clients send hashes to the provider, the claim itself must not be
  // accepted.
  if (!isHash && (rule === 'hashed' || !sameText(claim, given))) throw refuse.providerRefused()
}
