/**
 * Message authentication, and access tokens: one key per purpose and auth router, all derived from `token.secret` (RFC 8725 §3.10 asks
 * that no key serves two purposes). So nothing that one router has signed is valid for another router with the same
 * secret.
 *
 * There may be several secrets, so that one can replace another while both are valid. What is signed therefore names
 * its key. A name only selects one of the router's own keys.
 */

import { macUnder, textMacUnder } from '#hmac'
import { base64url, objectIn, sameText } from '../../http/base64url.ts'
import { derivedKey } from '../../http/derived-key.ts'
import type { ApiRequest } from '../../http/request/request.ts'
import type { TokenSettings } from '../setup/token-settings.ts'

/** What a key is for; a part of the HKDF label. */
export type Purpose =
  | 'access token'
  | 'known client'
  | 'one-time code'
  | 'refresh token'
  | 'sign-in ticket'
  | 'stored session'
  | `method ${string}`

/** What tells auth routers apart: the name of the user model, and the mount; a part of the HKDF label. */
export type InstanceName = Readonly<Record<'model' | 'mount', string>>

/** The HMAC-SHA-256 of a string. */
export type Mac = (text: string) => Uint8Array

export interface Key {
  /** The name of the secret behind the key, derived from it; the keys of one secret share it. */
  readonly id: string
  readonly mac: Mac
  /** The same in base64url. */
  text(text: string): string
}

/** The keys for one purpose, one per secret. */
export interface Keys {
  /** The key of the first secret: it signs. */
  readonly current: Key
  /** Every key verifies. */
  readonly all: readonly Key[]
}

const ID_BYTES = 8

export function keysFor(
  secrets: readonly [string, ...string[]],
  name: InstanceName,
  purpose: Purpose,
): Keys {
  const [first, ...others] = secrets
  const current = keyFor(first, name, purpose)
  return { current, all: [current, ...others.map((secret) => keyFor(secret, name, purpose))] }
}

/** The MAC of `text` with the name of its key: `<id>.<MAC>`. */
export function seal(key: Key, text: string): string {
  return `${key.id}.${key.text(text)}`
}

/** The router's own key that a seal names; undefined for an unknown one, and for anything that is not a seal. */
export function keyOf(keys: Keys, sealed: unknown): Key | undefined {
  const name = typeof sealed === 'string' ? sealed.split('.', 1)[0] : undefined
  return keys.all.find(({ id }) => id === name)
}

/** Whether `sealed` is the seal of `text` under one of the keys. */
export function isSealed(keys: Keys, sealed: unknown, text: string): boolean {
  const key = keyOf(keys, sealed)
  return key !== undefined && sameText(String(sealed), seal(key, text))
}

function keyFor(secret: string, name: InstanceName, purpose: Purpose): Key {
  const id = base64url(derive(secret, name, 'key id', ID_BYTES))
  const key = derive(secret, name, purpose)
  return { id, mac: macUnder(key), text: textMacUnder(key, 'base64url') }
}

function derive(secret: string, { model, mount }: InstanceName, use: string, bytes?: number) {
  return derivedKey(secret, `fieldgate ${use} ${JSON.stringify([model, mount])}`, bytes)
}

export interface Claims {
  readonly sub: string
  readonly role: string | readonly string[]
  readonly iat: number
  readonly exp: number
  readonly jti: string
  /**
   * The time of the user's last password change when the token was issued, in epoch milliseconds, 0 for none. `iat`
   * counts seconds, too coarse to order a token and a password change within the same second.
   */
  readonly pca: number
  /** The id of the session that the token ends with; missing without refresh tokens. */
  readonly sid?: string
  /** Without refresh tokens: when a second factor was shown, in seconds, if one was. */
  readonly mfa?: number
  readonly iss?: string
  readonly aud?: string | readonly string[]
}

/** The claims of a token of another service that is accepted: it names no password change and no session. */
export interface AcceptedClaims extends Pick<Claims, 'sub' | 'iat' | 'exp'> {
  readonly role: Claims['role'] | undefined
}

/** The claims of a genuine token of another service that is valid at `ms`, else undefined. Default: now. */
export type AcceptToken = (token: string, ms?: number) => AcceptedClaims | undefined

/** What the claims say of who a token is for; those that are undefined are left out. */
export type SignedIn = Readonly<Record<'sub' | 'role' | 'pca' | 'sid' | 'mfa', unknown>>

/**
 * Issues and verifies the access tokens of one auth router: JWTs (RFC 7519) signed with HMAC-SHA-256, typed `at+jwt`
 * (RFC 9068). fieldgate chooses the algorithm, never the token: its header is checked, not followed (RFC 8725 §3.1). Its
 * key id only selects one of the router's own keys.
 */
export interface AccessTokens {
  issue(signedIn: SignedIn): string
  /** The claims of a genuine token that is valid at `ms`, else undefined. Default: now. */
  verify(token: string, ms?: number): Claims | undefined
}

const TOLERANCE_SECONDS = 5
const MAX_TOKEN_LENGTH = 8192
/** Verified tokens are remembered: a client's second request computes no HMAC. */
const MAX_REMEMBERED = 1000

/**
 * The tokens of the auth router `name`, signed with `keys`; `now` returns epoch milliseconds. Every token has the issuer and the
 * audience, and must have them (RFC 7519 §4.1.1, §4.1.3).
 */
export function accessTokens(
  settings: Pick<TokenSettings, 'expiresIn' | 'issuer' | 'audience'>,
  name: InstanceName,
  keys: Keys,
  now: () => number,
): AccessTokens {
  const { expiresIn, issuer = name.mount, audience = [name.model] } = settings
  const signers = keys.all.map(signerOf)
  const { header, key } = signerOf(keys.current)
  const remembered = new Map<string, Claims>()
  return {
    issue(signedIn) {
      const iat = Math.floor(now() / 1000)
      const aud = audience.length === 1 ? audience[0] : audience
      const always = { iat, exp: iat + expiresIn, jti: crypto.randomUUID(), iss: issuer, aud }
      const claims = { ...signedIn, ...always }
      const body = base64url(JSON.stringify(claims))
      return `${header}.${body}.${key.text(`${header}.${body}`)}`
    },
    verify(token, ms = now()) {
      const claims = remembered.get(token) ?? check(token)
      return claims && isValidAt(ms, claims) ? claims : undefined
    },
  }

  /** Everything except the time, which is checked each time. */
  function check(token: string): Claims | undefined {
    if (token.length > MAX_TOKEN_LENGTH) return undefined
    const body = signedBody(token, (header) => {
      // We always write the header the same way; a different one came from another holder of the key.
      const signer = signers.find((known) => known.header === header) ?? signerIn(signers, header)
      return signer ? [signer.key.mac] : []
    })
    const claims = body && claimsOf(body)
    const isMeant =
      claims?.iss === issuer &&
      isStringOrStrings(claims.aud) &&
      [claims.aud].flat().some((one) => audience.includes(one))
    if (!claims || !isMeant) return undefined
    if (remembered.size >= MAX_REMEMBERED) remembered.clear()
    remembered.set(token, claims)
    return claims
  }
}

/** Whether a token is valid at `ms`, in epoch milliseconds, with some tolerance. */
export function isValidAt(ms: number, { iat, exp }: Pick<Claims, 'iat' | 'exp'>): boolean {
  const seconds = Math.floor(ms / 1000)
  return iat <= seconds + TOLERANCE_SECONDS && exp > seconds - TOLERANCE_SECONDS
}

/** The token after `Bearer`; undefined without a header of that scheme (RFC 6750 §2.1). */
export function bearerToken(request: ApiRequest): string | undefined {
  const header = request.headers.get('authorization')
  const [, token] = /^bearer(?:\s+(\S.*)?)?$/i.exec(header ?? '') ?? []
  return header !== null && /^bearer\b/i.test(header) ? (token ?? '') : undefined
}

interface Signer {
  readonly key: Key
  readonly header: string
}

function signerOf(key: Key): Signer {
  const header = JSON.stringify({ alg: 'HS256', typ: 'at+jwt', kid: key.id })
  return { key, header: base64url(header) }
}

/** What a token says, if it is signed under one of the keys for its header (RFC 7515 §5.2). */
export function signedBody(
  token: string,
  macsFor: (header: string) => readonly Mac[],
): Readonly<Record<string, unknown>> | undefined {
  const [header = '', body = '', signature = '', ...rest] = token.split('.')
  if (rest.length > 0) return undefined
  const signed = `${header}.${body}`
  return macsFor(header).some((mac) => sameText(signature, base64url(mac(signed))))
    ? objectIn(body)
    : undefined
}

/** fieldgate understands no extension that must be understood (`crit`, RFC 7515 §4.1.11). */
function signerIn(signers: readonly Signer[], encoded: string): Signer | undefined {
  const header = objectIn(encoded)
  const understood =
    header?.alg === 'HS256' && header.typ === 'at+jwt' && !('crit' in header) && !('b64' in header)
  return understood ? signers.find(({ key }) => key.id === header.kid) : undefined
}

function claimsOf(body: Readonly<Record<string, unknown>>): Claims | undefined {
  const { sub, role, iat, exp, nbf, jti, pca, sid } = body
  const typed =
    typeof sub === 'string' &&
    typeof jti === 'string' &&
    isStringOrStrings(role) &&
    isInstant(iat) &&
    isInstant(exp) &&
    isInstant(pca) &&
    (sid === undefined || typeof sid === 'string') &&
    nbf === undefined
  return typed ? (body as unknown as Claims) : undefined
}

export function isInstant(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

export function isStringOrStrings(value: unknown): value is string | readonly string[] {
  return [value].flat().every((item) => typeof item === 'string')
}
