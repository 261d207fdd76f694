/**
 * The accounts of express-controller-sets 3 as another program has them, by the formats of its tokens and of the
 * sessions that it stores. It is written anew here: it shares nothing with fieldgate but the collection.
 *
 * @module
 */

import { createHmac, randomBytes } from 'node:crypto'
import { type Collection, ObjectId } from 'mongodb'

/** A session as Mongoose stores it: a subdocument, with an id of its own. */
export interface OldSession {
  _id: ObjectId
  id: string
  hash: string
  previousHash?: string
  rotatedAt?: Date
  createdAt: Date
  lastUsedAt: Date
  expiresAt: Date
  userAgent?: string
}

/** What is read of a user. */
export interface OldUser {
  _id: ObjectId
  role?: string
  passwordChangedAt?: Date
  refreshTokens?: OldSession[]
}

/** What a sign-in or a refresh there returns; undefined for a 401. */
export type OldTokens = { readonly token: string; readonly refreshToken: string } | undefined

const GRACE_MS = 10_000
const DAYS_30 = 30 * 86_400_000

const json = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** An access token with these claims and header. */
export function oldToken(
  secret: string,
  claims: object,
  header: object = { alg: 'HS256', typ: 'JWT' },
): string {
  const signed = `${json(header)}.${json(claims)}`
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
}

/** The session that is stored for a refresh token, and the token. */
export function oldSession(
  secret: string,
  userId: string,
  at: number,
): { refreshToken: string; session: OldSession } {
  const id = randomBytes(12).toString('base64url')
  const random = randomBytes(32).toString('base64url')
  const time = new Date(at)
  return {
    refreshToken: `${Buffer.from(userId).toString('base64url')}.${id}.${random}`,
    session: {
      _id: new ObjectId(),
      id,
      hash: hashOf(secret, id, random),
      createdAt: time,
      lastUsedAt: time,
      expiresAt: new Date(at + DAYS_30),
      userAgent: 'the old client',
    },
  }
}

function hashOf(secret: string, id: string, random: string): string {
  return createHmac('sha256', secret).update(`${id}:${random}`).digest('base64url')
}

/** What a refresh there changes in a session, and the random part of the next token; undefined for a token that is not valid. */
export function refreshedThere(
  secret: string,
  {
    id,
    hash,
    previousHash,
    rotatedAt,
  }: Pick<OldSession, 'id' | 'hash' | 'previousHash' | 'rotatedAt'>,
  presented: string,
  at: number,
): { random: string; changes: Partial<OldSession> } | undefined {
  const sent = hashOf(secret, id, presented)
  const isGraced = previousHash === sent && at - (rotatedAt?.getTime() ?? 0) <= GRACE_MS
  if (hash !== sent && !isGraced) return undefined
  const random = randomBytes(32).toString('base64url')
  const now = new Date(at)
  return {
    random,
    changes: {
      hash: hashOf(secret, id, random),
      previousHash: hash,
      rotatedAt: now,
      lastUsedAt: now,
      expiresAt: new Date(at + DAYS_30),
    },
  }
}

/** The old service on `users`. */
export class OldService {
  readonly #users: Collection<OldUser>
  readonly #secret: string
  readonly #now: () => number

  constructor(users: Collection<OldUser>, secret: string, now: () => number) {
    this.#users = users
    this.#secret = secret
    this.#now = now
  }

  /** A sign-in that was right. */
  async signIn(userId: string): Promise<NonNullable<OldTokens>> {
    const { refreshToken, session } = oldSession(this.#secret, userId, this.#now())
    await this.#users.updateOne(
      { _id: new ObjectId(userId) },
      { $push: { refreshTokens: { $each: [session], $sort: { createdAt: 1 }, $slice: -5 } } },
    )
    return { token: this.#token(userId), refreshToken }
  }

  async refresh(presented: string): Promise<OldTokens> {
    const [user = '', id = '', random = ''] = presented.split('.')
    const userId = Buffer.from(user, 'base64url').toString()
    if (!ObjectId.isValid(userId)) return undefined
    const _id = new ObjectId(userId)
    const found = await this.#users.findOne({ _id })
    const session = found?.refreshTokens?.find((one) => one.id === id)
    if (!session) return undefined
    const next = refreshedThere(this.#secret, session, random, this.#now())
    if (!next) {
      await this.#users.updateOne({ _id }, { $set: { refreshTokens: [] } })
      return undefined
    }
    const set = Object.entries(next.changes).map(([name, value]) => [
      `refreshTokens.$.${name}`,
      value,
    ])
    const { matchedCount } = await this.#users.updateOne(
      { _id, refreshTokens: { $elemMatch: { id, hash: session.hash } } },
      { $set: Object.fromEntries(set) },
    )
    if (matchedCount === 0) return undefined
    return { token: this.#token(userId), refreshToken: `${user}.${id}.${next.random}` }
  }

  async signOut(presented: string): Promise<void> {
    const [user = '', id = ''] = presented.split('.')
    const _id = new ObjectId(Buffer.from(user, 'base64url').toString())
    await this.#users.updateOne({ _id }, { $pull: { refreshTokens: { id } } })
  }

  #token(userId: string): string {
    const iat = Math.floor(this.#now() / 1000)
    return oldToken(this.#secret, { sub: userId, role: 'user', iat, exp: iat + 900 })
  }
}
