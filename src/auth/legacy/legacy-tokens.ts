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
import {
  type AcceptedClaims,
  type AcceptToken,
  isInstant,
  isStringOrStrings,
  isValidAt,
  signedBody,
} from '../keys/access-tokens.ts'
import type { Mac } from '../keys/hmac.ts'
import type { LegacySettings } from './legacy-settings.ts'

/** What a refresh token of the old service says, and its hash under each of the old secrets. */
export interface LegacyRefresh {
  readonly userId: string
  readonly sessionId: string
  readonly hashes: readonly string[]
}

/** Reads the tokens of the old service. */
export interface LegacyTokens {
  readonly verify: AcceptToken
  /** What has the form of a refresh token; undefined for anything else. Whether it is genuine is not known yet. */
  refreshIn(text: unknown): LegacyRefresh | undefined
}

/** `{"alg":"HS256","typ":"JWT"}` */
const HEADER = 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9'
/** The user's id as base64url, 12 bytes of the session's id, 32 random bytes. */
const REFRESH = /^([\w-]{1,128})\.([\w-]{16})\.([\w-]{43})$/

/** Reads the tokens that were signed with one of the secrets of `settings`; `now` returns epoch milliseconds. */
export function legacyTokens(settings: LegacySettings, now: () => number): LegacyTokens {
  const macs = settings.secrets.map((secret): Mac => macUnder(new TextEncoder().encode(secret)))
  return {
    verify(token) {
      const body = signedBody(token, (header) => (header === HEADER ? macs : []))
      const claims = body && claimsIn(body, settings)
      return claims && isValidAt(now(), claims) ? claims : undefined
    },
    refreshIn(text) {
      const [, encoded = '', sessionId = '', random = ''] = REFRESH.exec(String(text)) ?? []
      const userId = textIn(encoded)
      if (!userId) return undefined
      return {
        userId,
        sessionId,
        hashes: macs.map((mac) => base64url(mac(`${sessionId}:${random}`))),
      }
    },
  }
}

/**
 * The claims that the old service writes. Any other claim means something that is unknown here: the service may have
 * signed links to reset a password with the same secret.
 */
function claimsIn(
  { sub, role, iat, exp, iss, aud, ...unknown }: Readonly<Record<string, unknown>>,
  { issuer, audience }: LegacySettings,
): AcceptedClaims | undefined {
  const typed =
    typeof sub === 'string' &&
    (role === undefined || isStringOrStrings(role)) &&
    isInstant(iat) &&
    isInstant(exp) &&
    Object.keys(unknown).length === 0
  return typed && iss === issuer && aud === audience ? { sub, role, iat, exp } : undefined
}
