/** Refresh sessions, as a user's record holds them, and how they end. */

import type { Change, Fields } from '../../ports/store.ts'
import type { Users } from '../users/users.ts'

/** A stored session. */
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
  /** The stored field of the list. */
  readonly field: string
  /** The part of a change that ends all sessions. */
  readonly allEnded: Fields
  readonly #users: Users

  constructor(users: Users) {
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

  /** Ends one session. */
  async end(userId: string, id: string): Promise<void> {
    const change: Change = { pull: { [this.field]: { key: 'id', value: id } } }
    await this.#users.update(userId, change)
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
    const field = names.passwordChangedAt
    const set = { [field]: this.#users.nextChange(user) }
    await this.#users.update(user._id, { set }, { [field]: user[field] })
  }

  /**
   * Ends the sessions in the same write that disables an account, no matter which route or code of this app makes it.
   * No sign-in gets in between: a later one finds the account disabled.
   */
  endWhenDisabling(hasSessions: boolean): void {
    const { engine, disabledField, names, now } = this.#users
    if (disabledField === undefined) return
    engine.writeAlong((changes) => {
      if (changes[disabledField] !== true) return {}
      const at = new Date(now())
      const ended = hasSessions ? this.allEnded : { [names.passwordChangedAt]: at }
      return this.#users.has('keysEndedAt') ? { ...ended, [names.keysEndedAt]: at } : ended
    })
  }
}

function isSession(value: unknown): value is Session {
  const { id, hash, createdAt, expiresAt } = (value ?? {}) as Readonly<Record<string, unknown>>
  const isNamed = typeof id === 'string' && typeof hash === 'string'
  return isNamed && createdAt instanceof Date && expiresAt instanceof Date
}
