/**
 * The end of every sign-in: one conditional write, which opens the session, clears the guesses and remembers the client,
 * and the data of the response.
 */

import { checkTime } from '../../http/deadline.ts'
import type { ApiRequest } from '../../http/request.ts'
import type { Change, Fields } from '../../ports/store.ts'
import { holds } from '../../records/engine/known-updates.ts'
import { type AccessTokens, bearerToken } from '../keys/access-tokens.ts'
import type { KnownClients } from '../request-info/known-clients.ts'
import { requestInfo } from '../request-info/request-info.ts'
import type { AuthSettings } from '../setup/settings.ts'
import type { Users } from '../users/users.ts'
import type { Lockout, Reservation } from './lockout.ts'
import type { NewSession, RefreshTokens } from './refresh-token-state.ts'
import type { Session } from './sessions.ts'

/** What a sign-in writes besides, and what must still be true besides at that moment. */
export interface SignIn {
  /** The right guess that the write clears; guesses counted meanwhile stay counted, because they are being evaluated. */
  readonly reservation?: Reservation
  readonly set?: Fields
  readonly expect?: Fields
  /** Whether a second factor was shown. */
  readonly isStrong?: boolean
}

/** The outcome of a sign-in. */
export interface SignedIn {
  /** The data of the response. */
  readonly data: Readonly<Record<string, unknown>>
  /** Whether the account knew other clients, but not this one. */
  readonly isNewClient: boolean
}

/** The parts that a sign-in writes and reads. */
export interface SignInParts {
  readonly users: Users
  readonly clients: KnownClients
  readonly lockout: Lockout
  /** Undefined without refresh tokens. */
  readonly refresh: RefreshTokens | undefined
  readonly tokens: AccessTokens
  readonly settings: AuthSettings
}

/** How often others may write the record meanwhile; in the end the session alone is added. */
const MAX_TRIES = 6

/**
 * Opens a session for `user` in one conditional write; undefined if its conditions no longer hold. So a sign-in that was
 * checked against a password can never open a session after that password has changed.
 */
export async function openSession(
  parts: SignInParts,
  user: Fields,
  request: ApiRequest,
  signIn: SignIn = {},
): Promise<SignedIn | undefined> {
  checkTime(request)
  const { users, refresh } = parts
  const strongAt = signIn.isStrong ? users.now() : undefined
  const session = refresh?.open(String(user._id), request, strongAt)
  const unchanged = { ...users.passwordState(user), ...signIn.expect }
  let read: Fields | undefined = user
  for (let tries = 1; read && tries <= MAX_TRIES; tries += 1) {
    const besides = guessesAndClients(parts, read, request, signIn.reservation, tries)
    const added = session && refresh && withSession(parts, refresh, read, session, request, tries)
    const change: Change = {
      set: { ...besides.set, ...signIn.set, ...added?.set },
      ...(besides.unset && { unset: besides.unset }),
      ...(added?.push && { push: added.push }),
    }
    const expect = { ...besides.expect, ...added?.expect, ...unchanged }
    const after = await writeSignIn(parts, user, change, expect)
    if (after) {
      const data = signInData(parts, after, session, strongAt)
      return { data, isNewClient: besides.isNewClient }
    }
    read = await users.byId(user._id)
    if (read && (users.isDisabled(read) || !holds(read, unchanged))) return undefined
  }
  return undefined
}

/**
 * The data of a sign-up, for an account that was stored with its first session, if that is still open: `onRegister` may
 * have changed the account, and the owner of its mailbox may have taken it over.
 */
export async function firstSignIn(
  parts: SignInParts,
  user: Fields,
  session: NewSession | undefined,
): Promise<SignedIn['data'] | undefined> {
  const { users, refresh, settings } = parts
  const now = settings.onRegister ? await users.byId(user._id) : user
  if (!now || users.isDisabled(now) || !holds(now, users.passwordState(user))) return undefined
  const isOpen = !session || refresh?.live(now, session.entry.id) !== undefined
  return isOpen ? signInData(parts, now, session) : undefined
}

/** What is written of guesses and clients. */
interface Besides {
  readonly set?: Fields
  readonly unset?: readonly string[] | undefined
  readonly expect?: Fields
  readonly isNewClient: boolean
}

function guessesAndClients(
  { clients, lockout }: SignInParts,
  read: Fields,
  request: ApiRequest,
  reservation: Reservation | undefined,
  tries: number,
): Besides {
  if (tries === MAX_TRIES) return { isNewClient: false }
  const cleared = reservation && lockout.stepBack(reservation, 'clear', read)
  const { client } = requestInfo(request)
  const isKnown = reservation?.known !== undefined || clients.isKnown(read, client)
  const { list, knewOthers } = isKnown ? { knewOthers: false } : clients.withStranger(read, client)
  // One that had to guess does not wait for others who sign in now: its right guess might lock the account meanwhile.
  const isAdded = list !== undefined && (tries === 1 || !reservation)
  return {
    set: { ...cleared?.change.set, ...(isAdded && { [clients.field]: list }) },
    unset: cleared?.change.unset,
    expect: { ...cleared?.expect, ...(isAdded && { [clients.field]: read[clients.field] }) },
    isNewClient: knewOthers,
  }
}

/**
 * The list of sessions with a new one. Expired sessions, and the one that the new one replaces, are dropped, if the list is
 * still as it was read. Otherwise they would count, and the oldest live session would make room.
 */
function withSession(
  { tokens }: SignInParts,
  refresh: RefreshTokens,
  read: Fields,
  { entry }: NewSession,
  request: ApiRequest,
  tries: number,
): Pick<Change, 'set' | 'push'> & { readonly expect?: Fields } {
  const { sessions, settings } = refresh
  const { field } = sessions
  if (!Array.isArray(read[field] ?? [])) return { set: { [field]: [entry] } }
  // The session that a client still has when it signs in to the same account again (ASVS 7.2.4).
  const token = bearerToken(request)
  const claims = token === undefined ? undefined : tokens.verify(token)
  const replaced = claims?.sub === String(read._id) ? claims.sid : undefined
  const isAlive = (session: Session) => session.id !== replaced && !refresh.isOver(session)
  const list = sessions.of(read)
  if (tries === MAX_TRIES || list.every(isAlive))
    return { push: { [field]: { value: entry, cap: settings.maxSessions } } }
  const kept = [...list.filter(isAlive), entry].slice(-settings.maxSessions)
  return { set: { [field]: kept }, expect: { [field]: read[field] } }
}

/** The user after the write; undefined if a condition does not hold, or the account is disabled. */
export async function writeSignIn(
  { users }: Pick<SignInParts, 'users'>,
  { _id }: Fields,
  change: Change,
  expect: Fields,
): Promise<Fields | undefined> {
  const isEmpty = Object.keys(change.set ?? {}).length === 0 && !change.unset && !change.push
  if (!isEmpty) return (await users.update(_id, change, expect, users.enabled)) ?? undefined
  // Hooks may have changed the record since it was read. A read is enough, because the token that follows ends with the
  // next password change.
  const now = await users.byId(_id)
  return now && !users.isDisabled(now) && holds(now, expect) ? now : undefined
}

/** The data of a sign-in or of a refresh; without sessions, the token says when a second factor was shown. */
export function signInData(
  { users, tokens, settings }: Pick<SignInParts, 'users' | 'tokens' | 'settings'>,
  user: Fields,
  session: NewSession | undefined,
  strongAt?: number,
): SignedIn['data'] {
  const token = tokens.issue({
    id: String(user._id),
    role: user[users.names.role] ?? settings.roles.default,
    changedAt: users.changedAt(user),
    sessionId: session?.entry.id,
    strongAt: session ? undefined : strongAt,
  })
  return {
    token,
    expiresIn: settings.token.expiresIn,
    ...(session && {
      refreshToken: session.token,
      refreshExpiresIn: Math.round((session.entry.expiresAt.getTime() - users.now()) / 1000),
    }),
    user: users.shown(user),
  }
}
