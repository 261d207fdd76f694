/** Refresh sessions, as a user's record holds them, how they end, and the tokens that refresh them. */

import { base64url, textIn } from '../../http/base64url.ts'
import type { ApiRequest } from '../../http/request/request.ts'
import type { Fields } from '../../ports/store/records.ts'
import { isSealed, type Key, type Keys, keyOf, type Purpose, seal } from '../keys/signing.ts'
import type { RefreshSettings } from '../setup/token-settings.ts'
import { replacing, type Users, type Write } from './users.ts'

export interface Session {
  readonly id: string
  readonly hash: string
  /** What `hash` has replaced. */
  readonly previousHash?: string
  /** The last hash of another service that was swapped here. */
  readonly swappedHash?: string
  readonly rotatedAt?: Date
  readonly createdAt: Date
  readonly lastUsedAt: Date
  readonly expiresAt: Date
  /** When its user last showed a factor again, by `POST /login/confirm`. */
  readonly confirmedAt?: Date
  /** When its user last showed a second factor. */
  readonly strongAt?: Date
  readonly userAgent?: string
}

/** The sessions of users; there are none without refresh tokens. */
export class Sessions {
  readonly field: string
  /** The part of a change that ends all sessions. */
  readonly allEnded: Fields
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly #users: Users

  constructor(users: Users) {
    this.now = users.now
    this.field = users.names.refreshTokens
    this.allEnded = users.has('refreshTokens') ? { [this.field]: [] } : {}
    this.#users = users
  }

  /** The sessions of a record; tolerates any value. */
  of(user: Fields): Session[] {
    const stored = user[this.field]
    return Array.isArray(stored) ? stored.filter(isSession) : []
  }

  /** Ends all sessions of the user with that id: the user after it, or null. */
  endAll(userId: string): Promise<Fields | null> {
    return this.#users.update(userId, { set: this.allEnded })
  }

  async end(userId: string, id: string): Promise<void> {
    await this.#users.update(userId, { pull: { [this.field]: { key: 'id', value: id } } })
  }

  /**
   * Ends the sessions of `user`, who was disabled when read: when the account is enabled again, nothing from before
   * opens it (ASVS 7.4.2). If something other than this app disabled it, they are still there. All of them are from
   * before, because no one can sign in to a disabled account. They end one by one, so that a session of a user who is
   * enabled and signs in again meanwhile stays.
   */
  async endThoseOfDisabled(user: Fields): Promise<void> {
    for (const { id } of this.of(user)) await this.end(String(user._id), id)
  }

  /**
   * Ends the access tokens of `user`, who was disabled when read, if there are no sessions to end. Tokens name the time
   * of the last password change; `named` is the time in the refused token.
   */
  async endTokensOfDisabled(user: Fields, named: number): Promise<void> {
    const { names } = this.#users
    if (named !== this.#users.changedAt(user)) return
    const next = this.#users.nextChange(user)
    await this.#users.update(user._id, replacing(user, names.passwordChangedAt, next))
  }
}

function isSession(value: unknown): value is Session {
  const { id, hash, createdAt, expiresAt } = (value ?? {}) as Readonly<Record<string, unknown>>
  const isNamed = typeof id === 'string' && typeof hash === 'string'
  return isNamed && createdAt instanceof Date && expiresAt instanceof Date
}

export interface TokenIds {
  readonly userId: string
  readonly sessionId: string
}

/** A refresh token that a client sent, and what follows from it. */
export interface SentToken extends TokenIds {
  /**
   * Whether it is the session's own, was replaced within the grace period, or is used again after it. Unknown if it is not
   * certain to be genuine or stolen, or if an instance with newer secrets has changed the session.
   */
  stateIn(session: Session): 'current' | 'graced' | 'reused' | 'unknown'
  refreshed(session: Session): Session
  /** The token to send for the session that it has refreshed; undefined if its secret is unknown here. */
  successorIn(session: Session): string | undefined
}

/** The token in a text; undefined if we never issued it. Does not read the store. */
export type ReadToken = (text: unknown) => SentToken | undefined

export interface RefreshToken extends TokenIds {
  readonly text: string
  readonly counter: number
}

/** A session ready to be stored, and its first token. */
export interface NewSession {
  readonly token: string
  readonly entry: Session
}

const ID_BYTES = 16
const MAX_AGENT_LENGTH = 256
const MAX_TOKEN_LENGTH = 512

/**
 * The refresh tokens of one auth router, and what a token that a client sends means for its session.
 *
 * A refresh token is the user's id, the session's id and a counter, with a MAC over them. So the successor of a token
 * is known from the token alone, and parallel refreshes get the same one; any older token of a session is provable
 * reuse, and a forged one is not. Only MACs of tokens are stored, under a separate key.
 */
export class RefreshTokens {
  readonly settings: RefreshSettings
  readonly sessions: Sessions
  readonly #keys: Keys
  readonly #storedKeys: Keys

  constructor(settings: RefreshSettings, sessions: Sessions, keys: (purpose: Purpose) => Keys) {
    this.settings = settings
    this.sessions = sessions
    this.#keys = keys('refresh token')
    this.#storedKeys = keys('stored session')
  }

  /**
   * A new session of the user with `userId`, who has shown a second factor at `strongAt`. It is from `changedAt` on, when the
   * password was last changed, perhaps by a clock that is ahead. Both in epoch milliseconds.
   */
  open(userId: string, request: ApiRequest, strongAt?: number, changedAt = 0): NewSession {
    const at = new Date(Math.max(this.sessions.now(), changedAt))
    const id = base64url(crypto.getRandomValues(new Uint8Array(ID_BYTES)))
    const token = this.#write(this.#keys.current, userId, id, 0)
    const userAgent = request.headers.get('user-agent')?.slice(0, MAX_AGENT_LENGTH)
    const entry: Session = {
      id,
      hash: seal(this.#storedKeys.current, token),
      createdAt: at,
      lastUsedAt: at,
      expiresAt: this.#expiry(at, at),
      ...(strongAt !== undefined && { strongAt: new Date(strongAt) }),
      ...(userAgent && { userAgent }),
    }
    return { token, entry }
  }

  /** When the session expires, in epoch milliseconds; `maxLifetime` also applies to sessions from before it was set. */
  endOf({ createdAt, expiresAt }: Session): number {
    return Math.min(expiresAt.getTime(), createdAt.getTime() + this.settings.maxLifetime * 1000)
  }

  isOver(session: Session): boolean {
    return this.sessions.now() >= this.endOf(session)
  }

  /** The session of `user` with that id, unless it was ended or has expired. */
  live(user: Fields, id: string | undefined): Session | undefined {
    return this.sessions.of(user).find((session) => session.id === id && !this.isOver(session))
  }

  /**
   * The write that adds a session to `user`, as read. Expired sessions, and the one with the id `replaced`, are dropped, if
   * the list is still as it was read (unless `isBlind`). Otherwise they would count, and the oldest live session would make
   * room.
   */
  adding(user: Fields, entry: Session, replaced: string | undefined, isBlind: boolean): Write {
    const { field } = this.sessions
    if (!Array.isArray(user[field] ?? [])) return { set: { [field]: [entry] } }
    const list = this.sessions.of(user)
    const kept = list.filter((session) => session.id !== replaced && !this.isOver(session))
    const cap = this.settings.maxSessions
    if (isBlind || kept.length === list.length) return { push: { [field]: { value: entry, cap } } }
    return replacing(user, field, [...kept, entry].slice(-cap))
  }

  read(text: unknown): SentToken | undefined {
    const token = this.genuine(text)
    return (
      token && {
        userId: token.userId,
        sessionId: token.sessionId,
        stateIn: (session) => {
          if (this.isHashOf(session.hash, token.text)) return 'current'
          if (!this.knowsSecretOf(session.hash)) return 'unknown'
          const isPrevious = this.isHashOf(session.previousHash, token.text)
          return isPrevious && this.isWithinGrace(session) ? 'graced' : 'reused'
        },
        refreshed: (session) =>
          this.settings.rotate
            ? this.rotated(session, token, token.counter + 1)
            : { ...session, lastUsedAt: new Date(this.sessions.now()) },
        successorIn: (session) =>
          !this.settings.rotate && this.isHashOf(session.hash, token.text)
            ? token.text
            : this.successorIn(session, token, token.counter + 1),
      }
    )
  }

  /** The contents of a token that this router made. */
  genuine(text: unknown): RefreshToken | undefined {
    if (typeof text !== 'string' || text.length > MAX_TOKEN_LENGTH) return undefined
    const [payload = '', sealed, ...rest] = text.split('~')
    if (rest.length > 0 || !isSealed(this.#keys, sealed, payload)) return undefined
    const [userId = '', sessionId = '', counter] = textIn(payload)?.split('.') ?? []
    return { text, userId, sessionId, counter: Number(counter) }
  }

  isHashOf(hash: unknown, text: string): boolean {
    return isSealed(this.#storedKeys, hash, text)
  }

  knowsSecretOf(hash: string): boolean {
    return keyOf(this.#storedKeys, hash) !== undefined
  }

  isWithinGrace({ rotatedAt }: Pick<Session, 'rotatedAt'>): boolean {
    const at = rotatedAt instanceof Date ? rotatedAt.getTime() : 0
    return this.sessions.now() < at + this.settings.graceSeconds * 1000
  }

  /** The session with a new token, number `counter`; its time starts anew. */
  rotated(session: Session, { userId, sessionId }: TokenIds, counter: number): Session {
    const at = new Date(this.sessions.now())
    const token = this.#write(this.#keys.current, userId, sessionId, counter)
    return {
      ...session,
      hash: seal(this.#storedKeys.current, token),
      previousHash: session.hash,
      rotatedAt: at,
      lastUsedAt: at,
      expiresAt: this.#expiry(session.createdAt, at),
    }
  }

  /**
   * Token number `counter` of a session that has been rotated to it. It is signed with the secret that was used then, not
   * with the first one now. Undefined if that secret is unknown here.
   */
  successorIn(
    session: Session,
    { userId, sessionId }: TokenIds,
    counter: number,
  ): string | undefined {
    const key = keyOf(this.#keys, session.hash)
    return key && this.#write(key, userId, sessionId, counter)
  }

  #write(key: Key, userId: string, sessionId: string, counter: number): string {
    const payload = base64url(`${userId}.${sessionId}.${counter}`)
    return `${payload}~${seal(key, payload)}`
  }

  #expiry(createdAt: Date, from: Date): Date {
    const latest = createdAt.getTime() + this.settings.maxLifetime * 1000
    return new Date(Math.min(from.getTime() + this.settings.expiresIn * 1000, latest))
  }
}
