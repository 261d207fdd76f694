/**
 * Google and Apple: OpenID Connect id tokens, checked against the provider's published keys.
 *
 * @module
 */

import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { bytesIn, objectIn } from '../../http/base64url.ts'
import { sameText } from '../../http/constant-time.ts'
import type { Fields } from '../../ports/store.ts'
import { fail } from '../option-checks.ts'
import { providerRefused, providerUnreachable } from '../refusals.ts'
import { createAsk } from './ask.ts'
import { type IdTokenOptions, type Provider, providerId, type Verified } from './provider.ts'
import { checkedUrl, endpointsOf } from './settings.ts'

interface Issuer {
  readonly issuers: readonly string[]
  readonly jwks: string
  /** Whether the token's `email_verified` claim vouches for the address. */
  vouches(claim: unknown): boolean
  /** The name, if the provider gives it only to the client. */
  name(claims: Fields, body: Fields): unknown
}

const KEYS_AGE_MS = 600_000
/** An unknown key id fetches the keys again at most this often. */
const KEYS_COOLDOWN_MS = 30_000
const MIN_KEY_BITS = 2048
const ALGORITHM = 'RSASSA-PKCS1-v1_5'
const TOLERANCE_SECONDS = 5

/** Google: `idToken` and `nonce`. */
export function googleProvider(name: string, idField: string, settings: IdTokenOptions): Provider {
  return idTokenProvider(name, idField, settings, {
    issuers: ['https://accounts.google.com', 'accounts.google.com'],
    jwks: 'https://www.googleapis.com/oauth2/v3/certs',
    vouches: (claim) => claim === true,
    name: (claims) => claims.name,
  })
}

/** Apple: `idToken`, `nonce`, and `name`, which Apple tells only the client, and only once. */
export function appleProvider(name: string, idField: string, settings: IdTokenOptions): Provider {
  return idTokenProvider(name, idField, settings, {
    issuers: ['https://appleid.apple.com'],
    jwks: 'https://appleid.apple.com/auth/keys',
    vouches: (claim) => claim === true || claim === 'true',
    name: (_, body) => personName(body.name),
  })
}

function idTokenProvider(
  name: string,
  idField: string,
  settings: IdTokenOptions,
  usual: Issuer,
): Provider {
  const clientIds = [settings.clientId ?? []].flat()
  if (clientIds.length === 0 || clientIds.some((id) => typeof id !== 'string' || id === '')) {
    fail(`'social.${name}' needs 'clientId'`)
  }
  const nonce = nonceRule(name, settings.nonce)
  const urls = endpointsOf(name, settings, { issuer: usual.issuers[0] as string, jwks: usual.jwks })
  const issuers = urls.issuer === usual.issuers[0] ? usual.issuers : [urls.issuer]
  const keys = keySet(checkedUrl(`social.${name}.jwksUrl`, settings.jwksUrl ?? urls.jwks))
  return {
    name,
    idField,
    credentials: ['idToken'],
    companions: ['nonce'],
    singleUse: true,
    async profile(body, now) {
      const token = String(body.idToken)
      const claims = await verifyToken(token, keys, issuers, now())
      checkNonce(nonce, claims.nonce, body.nonce)
      const { sub, aud, email } = claims
      // `azp` may be another client of the same project: Google's tokens for Android apps name that.
      if (typeof sub !== 'string') throw providerRefused()
      if (typeof aud !== 'string' || !clientIds.includes(aud)) throw providerRefused()
      const person = usual.name(claims, body)
      return {
        id: providerId(sub),
        ...(typeof email === 'string' && { email }),
        emailVerified: usual.vouches(claims.email_verified),
        ...(typeof person === 'string' && { name: person }),
        once: {
          signed: token.slice(0, token.lastIndexOf('.')),
          expiresAt: Number(claims.exp) * 1000,
        },
      } satisfies Verified
    },
  }
}

/** A public key as providers publish it (RFC 7517). */
type PublishedKey = Readonly<Record<string, unknown>>

/**
 * Finds a key by its id among those that a provider publishes. Every request that needs them fetches them itself, because
 * on Workers none can wait for another's. Throws a 401 or 503.
 */
function keySet(url: string): (kid: unknown) => Promise<CryptoKey> {
  let keys: readonly PublishedKey[] | undefined
  let askedAt = 0
  const isOlder = (ms: number) => Math.abs(Date.now() - askedAt) > ms
  const load = async (): Promise<readonly PublishedKey[]> => {
    askedAt = Date.now()
    const { status, body } = await createAsk()(url)
    if (status !== 200 || !Array.isArray(body.keys)) throw providerUnreachable()
    keys = body.keys
    return body.keys
  }
  return async (kid) => {
    const fits = (key: PublishedKey | null) => isMeant(key ?? {}, kid)
    const known = (!keys || isOlder(KEYS_AGE_MS) ? await load() : keys).filter(fits)
    const found =
      known.length === 0 && isOlder(KEYS_COOLDOWN_MS) ? (await load()).filter(fits) : known
    const [key, ...others] = found
    if (!key || others.length > 0) throw providerRefused()
    return publicKey(key)
  }
}

/** Whether a published key is the one for RS256 with that id; a token without an id may mean any. */
function isMeant(
  { kty, use = 'sig', alg = 'RS256', key_ops, kid }: PublishedKey,
  id: unknown,
): boolean {
  const verifies = key_ops === undefined || (Array.isArray(key_ops) && key_ops.includes('verify'))
  const isOfKind = kty === 'RSA' && use === 'sig' && alg === 'RS256' && verifies
  return isOfKind && (id === undefined || (typeof id === 'string' && id === kid))
}

async function publicKey({ n, e }: PublishedKey): Promise<CryptoKey> {
  const jwk = { kty: 'RSA', n: String(n), e: String(e) }
  const algorithm = { name: ALGORITHM, hash: 'SHA-256' }
  const key = await crypto.subtle
    .importKey('jwk', jwk, algorithm, false, ['verify'])
    .catch((error: unknown) => Promise.reject(providerUnreachable(error)))
  const { modulusLength } = key.algorithm as RsaHashedKeyAlgorithm
  if (modulusLength < MIN_KEY_BITS) throw providerUnreachable()
  return key
}

/** What a token says, if one of the keys has signed it with RSA and SHA-256 and it is valid now. Throws a 401 or 503. */
async function verifyToken(
  token: string,
  keyOf: ReturnType<typeof keySet>,
  issuers: readonly string[],
  now: number,
): Promise<Fields> {
  const [head = '', body = '', sealed = '', ...rest] = token.split('.')
  const header = objectIn(head)
  const signature = bytesIn(sealed)
  // Both sign with RSA; a token that names another algorithm was not made by them. No extension is understood.
  const isOurs = header?.alg === 'RS256' && !('crit' in header)
  if (!isOurs || !signature || rest.length > 0) throw providerRefused()
  const key = await keyOf(header.kid)
  const signed = new TextEncoder().encode(`${head}.${body}`)
  const isGenuine = await crypto.subtle.verify(ALGORITHM, key, signature, signed)
  const claims = isGenuine ? objectIn(body) : undefined
  if (!claims) throw providerRefused()
  const { iss, iat, exp, nbf = iat } = claims
  const latest = now / 1000 + TOLERANCE_SECONDS
  // A token from the future, beyond what clocks differ by, was not made by the provider's clock.
  const isTimely = isTime(iat) && isTime(nbf) && isTime(exp) && iat <= latest && nbf <= latest
  const isOver = Number(exp) <= Math.floor(now / 1000) - TOLERANCE_SECONDS
  if (!issuers.some((issuer) => issuer === iss) || !isTimely || isOver) throw providerRefused()
  return claims
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
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

/** The setting `nonce` of a provider. */
function nonceRule(provider: string, value: unknown): NonceRule {
  if (value === undefined) return 'checked'
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
  if (typeof claim !== 'string' || claim === '' || typeof given !== 'string' || !isGiven) {
    throw providerRefused()
  }
  const isHash = sameText(claim, bytesToHex(sha256(utf8ToBytes(given))))
  // Anyone who has a token can read its claim; if clients send hashes to the provider, the claim itself must not be
  // accepted.
  if (!isHash && (rule === 'hashed' || !sameText(claim, given))) throw providerRefused()
}
