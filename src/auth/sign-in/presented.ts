/**
 * Refresh tokens that clients send: our own, and those of express-controller-sets if `legacyTokens` is set.
 *
 * A token of the old service is swapped for one of ours. The session keeps its id and its age, and the hash that was
 * replaced stays, so that the old service knows the session too: whoever signs out there ends it here. The number in our
 * first token comes from that hash. So everyone who swaps it gets the same token, and a token that the old service has
 * replaced meanwhile is never valid again.
 *
 * @module
 */

import { sameText } from '../../http/constant-time.ts'
import type { AuthInstance } from '../instance/instance.ts'
import { isSealed, keyOf } from '../keys/hmac.ts'
import { isLegacyHash, type LegacyRefresh } from '../keys/legacy-tokens.ts'
import type { RefreshSettings } from '../setup/refresh-settings.ts'
import {
  genuineToken,
  type RefreshToken,
  refreshed,
  type Session,
  successorOf,
  withinGrace,
} from './sessions.ts'

/** The relation of a token to its session. */
export type Standing = 'current' | 'graced' | 'reused' | 'unknown'

/** A refresh token that a client sent, and what follows from it. */
export interface Presented {
  readonly userId: string
  readonly sessionId: string
  /**
   * Whether the token is the session's own, was replaced within the grace period, or is used again after it. Unknown if
   * it is not certain to be genuine or stolen, or if an instance with newer secrets has changed the session.
   */
  standing(session: Session): Standing
  /** The session after a refresh with it. */
  after(session: Session): Session
  /** The token to send for the session that it has refreshed; undefined if its secret is unknown here. */
  successor(session: Session): string | undefined
}

/** Whether a stored hash is that of a token. */
type IsOf = (hash: unknown) => boolean

/** The token in `text`; undefined if nobody can have got it. Does not read the store. */
export function presentedToken(
  auth: AuthInstance,
  refresh: RefreshSettings,
  text: unknown,
): Presented | undefined {
  const own = genuineToken(auth, text)
  if (own) {
    const isOf: IsOf = (hash) => isSealed(auth.sessionKeys, hash, own.text)
    return presented(auth, refresh, own, isOf)
  }
  const legacy = auth.legacy?.refreshIn(text)
  return legacy && presented(auth, refresh, legacy, isOfLegacy(legacy))
}

function isOfLegacy({ hashes }: LegacyRefresh): IsOf {
  return (hash) => hashes.some((one) => sameText(one, String(hash)))
}

function presented(
  auth: AuthInstance,
  refresh: RefreshSettings,
  token: RefreshToken | LegacyRefresh,
  isOf: IsOf,
): Presented {
  const own = 'text' in token ? token : undefined
  return {
    userId: token.userId,
    sessionId: token.sessionId,
    standing: (session) => standingOf(auth, refresh, session, isOf, own !== undefined),
    after: (session) => refreshed(auth, refresh, session, token),
    successor: (session) =>
      own && !refresh.rotate && isOf(session.hash)
        ? own.text
        : successorOf(auth, session, token)?.text,
  }
}

function standingOf(
  auth: AuthInstance,
  refresh: RefreshSettings,
  session: Session,
  isOf: IsOf,
  isOwn: boolean,
): Standing {
  const { hash, previousHash, swappedHash } = session
  if (isOf(hash)) return 'current'
  const by = changedBy(auth, hash)
  const isPrevious = isOf(previousHash)
  // Our own token is genuine by itself, one of the old service only if the session knows its hash.
  const isCertain = isOwn ? by !== undefined : isPrevious || isOf(swappedHash)
  if (!isCertain) return 'unknown'
  const isGraced = withinGrace(auth, refresh, session)
  // Without rotation, clients of the old service may keep the token that was swapped here.
  const isKept = !isOwn && !refresh.rotate && by !== 'there'
  // What the old service has replaced, for a request that came at the same time, is swapped anew.
  if (isPrevious && (isGraced || isKept)) return by === 'there' ? 'current' : 'graced'
  return isGraced && isMixed(session) ? 'unknown' : 'reused'
}

/** Where a session got its hash; undefined if an instance with newer secrets has changed it. */
function changedBy({ legacy, sessionKeys }: AuthInstance, hash: string) {
  if (legacy && isLegacyHash(hash)) return 'there'
  return keyOf(sessionKeys, hash) && 'here'
}

/** Whether both services have a part in the last change. Tokens may be older then, and not stolen. */
function isMixed({ hash, previousHash }: Session): boolean {
  return isLegacyHash(hash) || isLegacyHash(previousHash)
}
