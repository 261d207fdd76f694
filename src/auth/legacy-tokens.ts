/**
 * The tokens of express-controller-sets 3: accepted during a move from there, never issued.
 *
 * Access tokens are JWTs with the header below, signed with the secret itself. A refresh token is the user's id, the
 * session's id and random bytes; only its hash in the session shows that it is genuine.
 *
 * A refresh token of the old service is swapped for one of ours. The session keeps its id and its age, and the hash that was
 * replaced stays, so that the old service knows the session too: whoever signs out there ends it here. The number in our
 * first token comes from that hash. So everyone who swaps it gets the same token, and a token that the old service has
 * replaced meanwhile is never valid again.
 */

import { macUnder } from '#hmac'
import { base64url, sameText, textIn } from '../http/base64url.ts'
import type { OwnMethod } from './instance/instance.ts'
import type { ReadToken, RefreshTokens, SentToken, Session, TokenIds } from './instance/sessions.ts'
import {
  type AcceptedClaims,
  type AcceptToken,
  isInstant,
  isStringOrStrings,
  isValidAt,
  type Mac,
  signedBody,
} from './keys/signing.ts'
import { settingsOf, string } from './option-checks.ts'
import type { LegacyTokenOptions } from './setup/options.ts'
import {
  type Secrets,
  secretAdvice,
  secretsOf,
  type TokenSettings,
} from './setup/token-settings.ts'

/** `{"alg":"HS256","typ":"JWT"}` */
const HEADER = 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9'
/** The user's id as base64url, 12 bytes of the session's id, 32 random bytes. */
const REFRESH = /^([\w-]{1,128})\.([\w-]{16})\.([\w-]{43})$/

/** The option `legacyTokens`. */
export function legacyMethod(option: LegacyTokenOptions): OwnMethod {
  const checks = { secret: secretsOf, issuer: string, audience: string }
  const settings = settingsOf<LegacySettings>('legacyTokens', option, checks)
  return {
    routes: [],
    advice: ({ token }) => [
      secretAdvice(settings.secret, 'legacyTokens.secret'),
      legacyAdvice(settings, token),
    ],
    open({ users, refresh }) {
      const macs = settings.secret.map((secret): Mac => macUnder(new TextEncoder().encode(secret)))
      const accessToken: AcceptToken = (token, ms = users.now()) => {
        const body = signedBody(token, (header) => (header === HEADER ? macs : []))
        const claims = body && claimsIn(body, settings)
        return claims && isValidAt(ms, claims) ? claims : undefined
      }
      return { accepted: { accessToken, refreshToken: refresh && readingBoth(refresh, macs) } }
    },
  }
}

interface LegacySettings {
  /** All verify. */
  readonly secret: Secrets
  readonly issuer: string | undefined
  readonly audience: string | undefined
}

/** A start-up warning if the old secret alone decides who is an admin. */
function legacyAdvice(
  { issuer, audience }: LegacySettings,
  { invalidateOnPasswordChange }: TokenSettings,
): string | undefined {
  if (invalidateOnPasswordChange || issuer !== undefined || audience !== undefined) return undefined
  return "'legacyTokens' with 'token.invalidateOnPasswordChange: false' takes the role from any JWT that the old secret signed. Set 'legacyTokens.issuer' or 'legacyTokens.audience', or let the user be read"
}

/** Any other claim means something unknown: the service may have signed links to reset a password with the same secret. */
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

/** Reads our own refresh tokens and those of the old service, whose hash is made with one of `macs`. */
function readingBoth(tokens: RefreshTokens, macs: readonly Mac[]): ReadToken {
  return (text) => {
    const own = tokens.genuine(text)
    if (own) return toSentToken(tokens, own, (hash) => tokens.isHashOf(hash, own.text), own)
    // What has the form of such a token: whether it is genuine is not known yet.
    const [, encoded = '', sessionId = '', random = ''] = REFRESH.exec(String(text)) ?? []
    const userId = textIn(encoded)
    if (!userId) return undefined
    const hashes = macs.map((mac) => base64url(mac(`${sessionId}:${random}`)))
    const isOf = (hash: unknown) => hashes.some((one) => sameText(one, `${hash}`))
    return toSentToken(tokens, { userId, sessionId }, isOf)
  }
}

/** `own` if we made the token. */
function toSentToken(
  tokens: RefreshTokens,
  ids: TokenIds,
  isOf: (hash: unknown) => boolean,
  own?: { readonly text: string; readonly counter: number },
): SentToken {
  const { rotate } = tokens.settings
  // What replaces a hash of the old service depends on that hash alone, no matter which token was sent.
  const after = (replaced: unknown) =>
    (isLegacyHash(replaced) ? numberOf(replaced) : (own?.counter ?? 0)) + 1
  return {
    userId: ids.userId,
    sessionId: ids.sessionId,
    stateIn: (session) => stateIn(tokens, session, isOf, own !== undefined),
    refreshed(session) {
      const { hash } = session
      const rotated = tokens.rotated(session, ids, after(hash))
      if (isLegacyHash(hash)) return { ...rotated, swappedHash: hash }
      return rotate ? rotated : { ...session, lastUsedAt: rotated.lastUsedAt }
    },
    successorIn: (session) =>
      own && !rotate && isOf(session.hash)
        ? own.text
        : tokens.successorIn(session, ids, after(session.previousHash)),
  }
}

function stateIn(
  tokens: RefreshTokens,
  session: Session,
  isOf: (hash: unknown) => boolean,
  isOwn: boolean,
): ReturnType<SentToken['stateIn']> {
  const { hash, previousHash, swappedHash } = session
  if (isOf(hash)) return 'current'
  const isPrevious = isOf(previousHash)
  // Our own token is genuine by itself, one of the old service only if the session knows its hash.
  const isTheirs = isLegacyHash(hash)
  const isKnown = isTheirs || tokens.knowsSecretOf(hash)
  const isCertain = isOwn ? isKnown : [previousHash, swappedHash].some(isOf)
  if (!isCertain) return 'unknown'
  const isGraced = tokens.isWithinGrace(session)
  // Without rotation, clients of the old service may keep the token that was swapped here.
  const isKept = !isOwn && !tokens.settings.rotate && !isTheirs
  // What the old service has replaced, for a request that came at the same time, is swapped anew.
  if (isPrevious && (isGraced || isKept)) return isTheirs ? 'current' : 'graced'
  // Where both services have a part in the last change, tokens may be older, and not stolen.
  const isMixed = [hash, previousHash].some(isLegacyHash)
  return isGraced && isMixed ? 'unknown' : 'reused'
}

/** Whether the old service has written a session's hash: our own name their key before a dot. */
function isLegacyHash(hash: unknown): hash is string {
  return typeof hash === 'string' && !hash.includes('.')
}

/** How many characters make a number that is exact, with room to count on from it. */
const NUMBER_LENGTH = 7

/** A number that the hash of another token is very unlikely to give. */
function numberOf(hash: string): number {
  return [...hash.slice(0, NUMBER_LENGTH)].reduce((sum, one) => sum * 128 + one.charCodeAt(0), 0)
}
