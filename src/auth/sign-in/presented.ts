/**
 * Refresh tokens that clients send: our own, and those of express-controller-sets if `legacyTokens` is set.
 *
 * A token of the old service is swapped for one of ours. The session keeps its id and its age, and the old token's hash
 * stays as the replaced one, so that the old service knows the session too: whoever signs out there ends it here. The
 * number in our first token comes from the old token. So parallel swaps of one token return the same one, and a token
 * that the old service has replaced meanwhile is never valid again.
 *
 * @module
 */

import { sameText } from '../../http/constant-time.ts'
import type { AuthInstance } from '../instance/instance.ts'
import { isLegacyHash, type LegacyRefresh } from '../keys/legacy-tokens.ts'
import type { RefreshSettings } from '../setup/refresh-settings.ts'
import {
  genuineToken,
  type RefreshToken,
  refreshed,
  type Session,
  type Standing,
  standingOf,
  successorOf,
  withinGrace,
} from './sessions.ts'

/** A refresh token that a client sent, and what follows from it. */
export interface Presented {
  readonly userId: string
  readonly sessionId: string
  standing(session: Session): Standing
  /** The session after a refresh with it. */
  after(session: Session): Session
  /** The token to send for the session that it has refreshed; undefined if its secret is unknown here. */
  successor(session: Session): string | undefined
}

/** The token in `text`; undefined if nobody can have got it. Does not read the store. */
export function presentedToken(
  auth: AuthInstance,
  refresh: RefreshSettings,
  text: unknown,
): Presented | undefined {
  const own = genuineToken(auth, text)
  if (own) return ownToken(auth, refresh, own)
  const legacy = auth.legacy?.refreshIn(text)
  return legacy && legacyToken(auth, refresh, legacy)
}

function ownToken(auth: AuthInstance, refresh: RefreshSettings, token: RefreshToken): Presented {
  return {
    ...token,
    standing: (session) => standingOf(auth, refresh, session, token),
    after: (session) => refreshed(auth, refresh, session, token),
    successor: (session) => (refresh.rotate ? successorOf(auth, session, token) : token)?.text,
  }
}

function legacyToken(
  auth: AuthInstance,
  refresh: RefreshSettings,
  given: LegacyRefresh,
): Presented {
  const { userId, sessionId, hashes, number } = given
  const token: RefreshToken = { text: '', userId, sessionId, counter: number }
  const isOf = (hash = '') => hashes.some((one) => sameText(one, hash))
  return {
    ...token,
    standing({ hash, previousHash, ...session }) {
      if (isOf(hash)) return 'current'
      if (!isOf(previousHash)) return 'unknown'
      // Without rotation, clients of the old service may keep the token that they have.
      const isGraced = !refresh.rotate || withinGrace(auth, refresh, session)
      if (!isGraced) return 'reused'
      return isLegacyHash(hash) ? 'current' : 'graced'
    },
    // It is swapped with or without rotation.
    after: (session) => refreshed(auth, { ...refresh, rotate: true }, session, token),
    successor: (session) => successorOf(auth, session, token)?.text,
  }
}
