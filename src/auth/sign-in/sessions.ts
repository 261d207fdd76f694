/**
 * Refresh sessions (spec 3.1).
 *
 * A refresh token is the user's id, the session's id and a counter, with a MAC over them. So the successor of a token
 * is known from the token alone, and parallel refreshes get the same one; any older token of a session is provable
 * reuse, and a forged one is not. Only MACs of tokens are stored, under a separate key.
 *
 * @module
 */

import { base64url, textIn } from '../../http/base64url.ts'
import type { ApiRequest } from '../../http/request.ts'
import { isFields } from '../../model/writable.ts'
import type { Change, Fields } from '../../ports/store.ts'
import type { AuthInstance } from '../instance/instance.ts'
import { isSealed, type Key, keyOf, seal } from '../keys/hmac.ts'
import { isLegacyHash, numberOf } from '../keys/legacy-tokens.ts'
import type { RefreshSettings } from '../setup/refresh-settings.ts'

/** The contents of a genuine refresh token. */
export interface RefreshToken {
  readonly text: string
  readonly userId: string
  readonly sessionId: string
  readonly counter: number
}

/** A stored session. */
export interface Session {
  readonly id: string
  readonly hash: string
  /** What `hash` has replaced. */
  readonly previousHash?: string
  /** The last hash of the old service that was swapped here. */
  readonly swappedHash?: string
  readonly rotatedAt?: Date
  readonly createdAt: Date
  readonly lastUsedAt: Date
  readonly expiresAt: Date
  readonly userAgent?: string
}

/** A session ready to be stored, and its first token. */
export interface NewSession {
  readonly token: string
  readonly entry: Session
}

const ID_BYTES = 16
const MAX_AGENT = 256
const MAX_LENGTH = 512

/** A new session of the user with `userId`. */
export function newSession(
  auth: AuthInstance,
  refresh: RefreshSettings,
  userId: string,
  request: ApiRequest,
): NewSession {
  const at = new Date(auth.now())
  const id = base64url(crypto.getRandomValues(new Uint8Array(ID_BYTES)))
  const { text } = tokenOf(auth.refreshKeys.current, userId, id, 0)
  const userAgent = request.headers.get('user-agent')?.slice(0, MAX_AGENT)
  const entry: Session = {
    id,
    hash: hashOf(auth, text),
    createdAt: at,
    lastUsedAt: at,
    expiresAt: expiryOf(refresh, at, at),
    ...(userAgent && { userAgent }),
  }
  return { token: text, entry }
}

/** The part of a change that ends all sessions. */
export function sessionsEnded({ names, settings }: AuthInstance): Fields {
  return settings.model.shape.fields.has(names.refreshTokens) ? { [names.refreshTokens]: [] } : {}
}

/** The change that ends one session. */
export function oneEnded({ names }: AuthInstance, id: string): Change {
  return { pull: { [names.refreshTokens]: { key: 'id', value: id } } }
}

/** The sessions of a record; tolerates any value. */
export function sessionsOf({ names }: AuthInstance, user: Fields): Session[] {
  const stored = user[names.refreshTokens]
  return Array.isArray(stored) ? stored.filter(isSession) : []
}

/** The session of `user` with that id, unless it was ended or has expired. */
export function liveSession(
  auth: AuthInstance,
  refresh: RefreshSettings,
  user: Fields,
  id: string | undefined,
): Session | undefined {
  return sessionsOf(auth, user).find(
    (session) => session.id === id && !isOver(auth, refresh, session),
  )
}

/** The token in `text`, if this router made it; does not read the store. */
export function genuineToken(auth: AuthInstance, text: unknown): RefreshToken | undefined {
  if (typeof text !== 'string' || text.length > MAX_LENGTH) return undefined
  const [payload = '', sealed, ...rest] = text.split('~')
  if (rest.length > 0 || !isSealed(auth.refreshKeys, sealed, payload)) return undefined
  const [userId, sessionId, counter] = textIn(payload)?.split('.') ?? []
  return userId && sessionId && counter
    ? { text, userId, sessionId, counter: Number(counter) }
    : undefined
}

/** What the token that follows another one depends on. */
export interface Predecessor {
  readonly userId: string
  readonly sessionId: string
  /** Undefined for a token of the old service. */
  readonly counter?: number
}

/**
 * The one token that follows `token` in `session`, which has replaced it there. It is signed with the secret that was
 * used when it replaced it, not with the first one now. Undefined if that secret is unknown here.
 */
export function successorOf(
  auth: AuthInstance,
  session: Session,
  token: Predecessor,
): RefreshToken | undefined {
  const key = keyOf(auth.refreshKeys, session.hash)
  return key && successorUnder(key, token, session.previousHash)
}

/** Whether the session's token was replaced a short time ago. */
export function withinGrace(
  { now }: AuthInstance,
  refresh: RefreshSettings,
  { rotatedAt }: Pick<Session, 'rotatedAt'>,
): boolean {
  const at = rotatedAt instanceof Date ? rotatedAt.getTime() : 0
  return now() < at + refresh.graceSeconds * 1000
}

/** When the session expires, in epoch milliseconds; `maxLifetime` also applies to sessions from before it was set. */
export function endOf({ maxLifetime }: RefreshSettings, { createdAt, expiresAt }: Session): number {
  return Math.min(expiresAt.getTime(), createdAt.getTime() + maxLifetime * 1000)
}

/** Whether the session has expired. */
export function isOver({ now }: AuthInstance, refresh: RefreshSettings, session: Session): boolean {
  return now() >= endOf(refresh, session)
}

/**
 * The session after a refresh with `token`. With rotation, and if the session's hash comes from the old service, it has
 * the successor, and its time starts anew.
 */
export function refreshed(
  auth: AuthInstance,
  refresh: RefreshSettings,
  session: Session,
  token: Predecessor,
): Session {
  const at = new Date(auth.now())
  const { hash } = session
  const isSwap = isLegacyHash(hash)
  if (!isSwap && !refresh.rotate) return { ...session, lastUsedAt: at }
  return {
    ...session,
    hash: hashOf(auth, successorUnder(auth.refreshKeys.current, token, hash).text),
    previousHash: hash,
    ...(isSwap && { swappedHash: hash }),
    rotatedAt: at,
    lastUsedAt: at,
    expiresAt: expiryOf(refresh, session.createdAt, at),
  }
}

/** What replaces a hash of the old service depends on that hash alone, no matter which token was sent. */
function successorUnder(
  key: Key,
  { userId, sessionId, counter = 0 }: Predecessor,
  replaced: unknown,
): RefreshToken {
  const from = isLegacyHash(replaced) ? numberOf(replaced) : counter
  return tokenOf(key, userId, sessionId, from + 1)
}

function tokenOf(key: Key, userId: string, sessionId: string, counter: number): RefreshToken {
  const payload = base64url(new TextEncoder().encode(`${userId}.${sessionId}.${counter}`))
  return { text: `${payload}~${seal(key, payload)}`, userId, sessionId, counter }
}

function hashOf({ sessionKeys }: AuthInstance, token: string): string {
  return seal(sessionKeys.current, token)
}

function expiryOf(refresh: RefreshSettings, createdAt: Date, from: Date): Date {
  const longest = createdAt.getTime() + refresh.maxLifetime * 1000
  return new Date(Math.min(from.getTime() + refresh.expiresIn * 1000, longest))
}

function isSession(value: unknown): value is Session {
  return (
    isFields(value) &&
    typeof value.id === 'string' &&
    typeof value.hash === 'string' &&
    value.createdAt instanceof Date &&
    value.expiresAt instanceof Date
  )
}
