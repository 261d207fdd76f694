/**
 * The tokens of express-controller-sets 3: accepted during a move from there, never issued.
 *
 * Access tokens are JWTs with the header below, signed with the secret itself. A refresh token is the user's id, the
 * session's id and random bytes; only its hash in the session shows that it is genuine.
 */

import { macUnder } from '#hmac'
import { base64url, textIn } from '../../http/base64url.ts'
import type { OwnMethod } from '../instance.ts'
import {
  type AcceptedClaims,
  isInstant,
  isStringOrStrings,
  isValidAt,
  signedBody,
} from '../keys/access-tokens.ts'
import type { Mac } from '../keys/hmac.ts'
import { settingsOf, string } from '../option-checks.ts'
import type { LegacyTokenOptions } from '../setup/options.ts'
import {
  type Secrets,
  secretAdvice,
  secretsOf,
  type TokenSettings,
} from '../setup/token-settings.ts'
import { type LegacyTokens, readingBoth } from './legacy-sessions.ts'

/** `{"alg":"HS256","typ":"JWT"}` */
const HEADER = 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9'
/** The user's id as base64url, 12 bytes of the session's id, 32 random bytes. */
const REFRESH = /^([\w-]{1,128})\.([\w-]{16})\.([\w-]{43})$/

/** The option `legacyTokens`. */
export function legacyMethod(option: LegacyTokenOptions): OwnMethod {
  const settings = legacySettings(option)
  return {
    routes: [],
    advice: ({ token }) => [
      secretAdvice(settings, 'legacyTokens.secret'),
      legacyAdvice(settings, token),
    ],
    open({ users, refresh }) {
      const tokens = tokensOf(settings, users.now)
      const refreshToken = refresh && readingBoth(refresh, tokens)
      return { accepted: { accessToken: tokens.verify, refreshToken } }
    },
  }
}

/** The option, resolved. */
interface LegacySettings {
  /** All verify. */
  readonly secrets: Secrets
  readonly issuer: string | undefined
  readonly audience: string | undefined
}

function legacySettings(option: LegacyTokenOptions): LegacySettings {
  const { secret: secrets, ...settings } = settingsOf<
    Omit<LegacySettings, 'secrets'> & { readonly secret: Secrets }
  >('legacyTokens', option, { secret: secretsOf, issuer: string, audience: string })
  return { secrets, ...settings }
}

/** A start-up warning if the old secret alone decides who is an admin. */
function legacyAdvice(
  { issuer, audience }: LegacySettings,
  { invalidateOnPasswordChange }: TokenSettings,
): string | undefined {
  if (invalidateOnPasswordChange || issuer !== undefined || audience !== undefined) return undefined
  return "'legacyTokens' with 'token.invalidateOnPasswordChange: false' takes the role from any JWT that the old secret signed. Set 'legacyTokens.issuer' or 'legacyTokens.audience', or let the user be read"
}

/** Reads the tokens that were signed with one of the secrets of `settings`; `now` returns epoch milliseconds. */
function tokensOf(settings: LegacySettings, now: () => number): LegacyTokens {
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
