/**
 * The tokens of express-controller-sets 3: accepted during a move from there, never issued.
 *
 * Access tokens are JWTs with the header below, signed with the secret itself. A refresh token is the user's id, the
 * session's id and random bytes; only its hash in the session shows that it is genuine.
 *
 * @module
 */

import { macUnder } from '#hmac'
import { base64url, textIn } from '../../http/base64url.ts'
import { sameText } from '../../http/constant-time.ts'
import type { LegacySettings } from '../setup/legacy-settings.ts'
import type { Mac } from './hmac.ts'

/** The claims of an access token of the old service, checked. */
export interface LegacyClaims {
  readonly sub: string
  readonly role?: string | readonly string[]
  readonly iat: number
  readonly exp: number
}

/** What a refresh token of the old service says, and its hash under each of the old secrets. */
export interface LegacyRefresh {
  readonly userId: string
  readonly sessionId: string
  readonly hashes: readonly string[]
  /** A number that another token is very unlikely to have; without a secret, because secrets are replaced. */
  readonly number: number
}

/** Reads the tokens of the old service. */
export interface LegacyTokens {
  /** The claims of a genuine access token that is valid now, else undefined. */
  verify(token: string): LegacyClaims | undefined
  /** What has the form of a refresh token; undefined for anything else. Whether it is genuine is not known yet. */
  refreshIn(text: unknown): LegacyRefresh | undefined
}

const HEADER = base64url(new TextEncoder().encode('{"alg":"HS256","typ":"JWT"}'))
const TOLERANCE_SECONDS = 5
const MAX_LENGTH = 8192
/** The user's id as base64url, 12 bytes of the session's id, 32 random bytes. */
const REFRESH = /^([\w-]{1,128})\.([\w-]{16})\.([\w-]{43})$/

/** Reads the tokens that were signed with one of the secrets of `settings`; `now` returns epoch milliseconds. */
export function legacyTokens(settings: LegacySettings, now: () => number): LegacyTokens {
  const macs = settings.secrets.map((secret): Mac => macUnder(new TextEncoder().encode(secret)))
  return {
    verify(token) {
      const [header, body = '', signature = '', ...rest] = token.split('.')
      if (token.length > MAX_LENGTH || header !== HEADER || rest.length > 0) return undefined
      const isGenuine = macs.some((mac) => sameText(signature, base64url(mac(`${header}.${body}`))))
      const claims = isGenuine ? claimsIn(body, settings) : undefined
      if (!claims) return undefined
      const seconds = Math.floor(now() / 1000)
      const isEarly = claims.iat > seconds + TOLERANCE_SECONDS
      return isEarly || claims.exp <= seconds - TOLERANCE_SECONDS ? undefined : claims
    },
    refreshIn(text) {
      const [, encoded = '', sessionId = '', random = ''] =
        typeof text === 'string' ? (REFRESH.exec(text) ?? []) : []
      const userId = textIn(encoded)
      if (!userId) return undefined
      return {
        userId,
        sessionId,
        hashes: macs.map((mac) => base64url(mac(`${sessionId}:${random}`))),
        number: numberIn(random),
      }
    },
  }
}

/** Whether a session's hash has the form that the old service writes; our own name their key before a dot. */
export function isLegacyHash(hash: string): boolean {
  return /^[\w-]{43}$/.test(hash)
}

function claimsIn(body: string, { issuer, audience }: LegacySettings): LegacyClaims | undefined {
  const claims = objectIn(textIn(body))
  const { sub, role, iat, exp, nbf, iss, aud } = claims
  const typed =
    typeof sub === 'string' &&
    (role === undefined || [role].flat().every((one) => typeof one === 'string')) &&
    Number.isSafeInteger(iat) &&
    Number.isSafeInteger(exp) &&
    nbf === undefined
  const isMeant =
    (issuer === undefined || iss === issuer) && (audience === undefined || aud === audience)
  return typed && isMeant
    ? ({ sub, ...(role !== undefined && { role }), iat, exp } as LegacyClaims)
    : undefined
}

/** How many of the random characters make a number that is exact, with room to count on from it. */
const NUMBER_CHARACTERS = 8

function numberIn(random: string): number {
  let number = 0
  for (const character of random.slice(0, NUMBER_CHARACTERS)) {
    number = number * 64 + ALPHABET.indexOf(character)
  }
  return number
}

/** The digits of base64url (RFC 4648, section 5). */
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

function objectIn(text: string | undefined): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text ?? '')
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}
