/** Second factors, and when and how the bearer of a token has signed in. */

import type { ApiRequest } from '../../http/request/request.ts'
import type { Fields } from '../../ports/store/records.ts'
import type { UsedTokens } from '../providers/used-tokens.ts'
import * as refuse from '../refusals.ts'
import type { SecondFactor } from '../setup/method.ts'
import { hasRole } from '../setup/roles.ts'
import type { Sessions } from './sessions.ts'
import type { Users } from './users.ts'

interface Parts {
  readonly users: Users
  readonly sessions: Sessions
  /** The tickets that have opened their sessions. */
  readonly usedTokens: UsedTokens | undefined
}

type Asked = Parts & { readonly request: ApiRequest }

export class Factors {
  readonly all: readonly SecondFactor[]
  readonly #parts: Parts

  constructor(all: readonly SecondFactor[], parts: Parts) {
    this.all = all
    this.#parts = parts
  }

  /** Those that `user` has; with `stay`, without those that are being removed. */
  async of(user: Fields, stay = false): Promise<readonly SecondFactor[]> {
    const enrolled = await this.#enrolled(user, stay)
    return this.all.filter((_, at) => enrolled[at])
  }

  /** What tells those of `user` from those that they had before, or will have. */
  async stampOf(user: Fields): Promise<string> {
    return JSON.stringify(await this.#enrolled(user))
  }

  #enrolled(user: Fields, stay = false): Promise<readonly (boolean | string)[]> {
    return Promise.all(this.all.map((factor) => factor.isEnrolled(user, stay)))
  }

  /** Those that a sign-in of `user` by one factor is asked for. */
  async asked(user: Fields): Promise<readonly SecondFactor[]> {
    const own = this.all.length === 0 ? [] : await this.of(user)
    if (!own.some(({ asks }) => asks) && !this.isRequired(user)) return []
    return [...own].sort((one, other) => +other.asks - +one.asks)
  }

  isRequired(user: Fields): boolean {
    const { names, settings } = this.#parts.users
    return hasRole(user[names.role], settings.requiredFor)
  }

  /** Throws a 403 if `user` needs a second factor and this request shows none. */
  async demand(user: Fields, request: ApiRequest): Promise<void> {
    if (!this.isRequired(user)) return
    if (visitOf(this.#parts, user, request)?.strongAt !== undefined) return
    const own = await this.of(user)
    // A key cannot show a factor; its owner did when it was made.
    if (own.length > 0 && request.auth?.claims?.key !== undefined) return
    throw own.length > 0 ? refuse.secondFactorNeeded() : refuse.factorNeeded()
  }

  /** Throws a 400 for a body with an answer of the wrong type. */
  checkAnswers(body: Fields): void {
    for (const { answer } of this.all) {
      const [key, type] = answer
      const value = Object.hasOwn(body, key) ? body[key] : undefined
      const isTyped = typeof value === type && value !== null && !Array.isArray(value)
      if (value !== undefined && !isTyped) throw refuse.invalidFormat()
    }
  }

  async isAnswered(
    user: Fields,
    asked: readonly SecondFactor[],
    body: Fields,
    request: ApiRequest,
  ): Promise<boolean> {
    const factor = asked.find(({ answer }) => Object.hasOwn(body, answer[0]))
    if (!factor) return false
    const ticket = String(body.ticket)
    // Nothing is used up in vain, such as a recovery code.
    if (await this.#parts.usedTokens?.isUsed(ticket)) throw refuse.invalidTicket()
    return factor.isRight(user, body[factor.answer[0]], request, ticket)
  }
}

/** A sign-in, or the confirmation after it. In epoch milliseconds. */
export interface Visit {
  readonly at: number
  /** When a second factor was last shown; undefined if none was. */
  readonly strongAt: number | undefined
}

const RECENT_MS = 10 * 60_000

/** Whether `user` has signed in with a second factor, if there are `factors` that count. */
export function isStrong(auth: Asked, user: Fields, factors: readonly SecondFactor[]): boolean {
  return factors.length === 0 || visitOf(auth, user, auth.request)?.strongAt !== undefined
}

/** Whether `user` has signed in a short time ago: with a second factor, if there are `factors` that count. */
export function isRecent(auth: Asked, user: Fields, factors: readonly SecondFactor[]): boolean {
  const visit = visitOf(auth, user, auth.request)
  const at = factors.length > 0 ? visit?.strongAt : visit?.at
  return at !== undefined && at > auth.users.now() - RECENT_MS
}

/**
 * The visit of a signed-in request of `user`: that of its session, or without sessions that of its token. Undefined for a
 * token of another service, which may come from a refresh, and for an API key.
 */
export function visitOf(
  { sessions }: { readonly sessions: Sessions },
  user: Fields,
  { auth }: ApiRequest,
): Visit | undefined {
  const { sid, iat, jti, mfa } = auth?.claims ?? {}
  const session = sessions.of(user).find(({ id }) => id === sid)
  if (session) {
    const { createdAt, confirmedAt = createdAt, strongAt } = session
    return { at: confirmedAt.getTime(), strongAt: strongAt?.getTime() }
  }
  if (jti === undefined) return undefined
  return { at: Number(iat) * 1000, strongAt: typeof mfa === 'number' ? mfa * 1000 : undefined }
}
