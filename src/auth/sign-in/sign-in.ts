/**
 * The end of every sign-in: one conditional write that opens the session, and the data of spec 2.5.
 *
 * @module
 */

import { checkTime, inTime } from '../../http/deadline.ts'
import { HttpError } from '../../http/errors.ts'
import type { ApiRequest } from '../../http/request.ts'
import { all, type Filter, type Scalar, withId } from '../../ports/filter.ts'
import type { Change, Fields } from '../../ports/store.ts'
import type { AuthInstance } from '../instance/instance.ts'
import { changedAt, shownUser, userById, withoutSecrets } from '../instance/user.ts'
import { bearerToken } from '../keys/access-tokens.ts'
import type { RefreshSettings } from '../setup/refresh-settings.ts'
import { SecondStepRequired, type SignInStep } from '../setup/sign-in-step.ts'
import { isOver, type NewSession, newSession, type Session, sessionsOf } from './sessions.ts'

/** What a sign-in writes, and what must still be true at that moment. */
export interface SignIn {
  readonly filter?: Filter
  readonly change?: Change
  readonly expect?: Fields
}

/** The data of a sign-in's response. */
export type SignInData = Readonly<Record<string, unknown>>

/**
 * Opens a session for `user` in one conditional write; undefined if its conditions no longer hold. So a sign-in that
 * was checked against a password can never open a session after that password has changed.
 */
export async function signIn(
  auth: AuthInstance,
  user: Fields,
  request: ApiRequest,
  { filter, change = {}, expect = {} }: SignIn,
): Promise<SignInData | undefined> {
  checkTime(request)
  const { settings, names } = auth
  const id = String(user._id)
  const session = settings.refresh && newSession(auth, settings.refresh, id, request)
  const filters: Filter[] = [withId(id)]
  if (filter) filters.push(filter)
  if (settings.disabledField) filters.push({ op: 'ne', field: settings.disabledField, value: true })
  const unchanged = {
    ...expect,
    [names.password]: user[names.password],
    [names.passwordChangedAt]: user[names.passwordChangedAt],
  }
  const step: Step = {
    filter: all(filters),
    change,
    expect: unchanged,
    replaces: sentSession(auth, id, request),
  }
  const signedIn =
    settings.refresh && session
      ? await opened(auth, settings.refresh, user, session.entry, step)
      : await taken(auth, step)
  if (!signedIn) return undefined
  return signInData(auth, signedIn, session)
}

interface Step extends Required<SignIn> {
  /** The id of the session that the new one replaces. */
  readonly replaces: string | undefined
}

/** The session that a client still has when it signs in to the same account again (ASVS 7.2.4). */
function sentSession(
  { tokens }: AuthInstance,
  id: string,
  request: ApiRequest,
): string | undefined {
  const token = bearerToken(request)
  const claims = token === undefined ? undefined : tokens.verify(token)
  return claims?.sub === id ? claims.sid : undefined
}

/** Takes the step: the user after it, or undefined if a condition does not hold. */
async function taken(
  auth: AuthInstance,
  { filter, change, expect }: Required<SignIn>,
): Promise<Fields | undefined> {
  if (Object.keys(change).length === 0) return reread(auth, filter, expect)
  return (await auth.engine.stored.update(filter, change, { expect })) ?? undefined
}

/**
 * The user, if a sign-in writes nothing: hooks may have changed the record since it was read. A read is enough, because
 * the token that follows ends with the next password change.
 */
function reread(
  { engine }: AuthInstance,
  filter: Filter,
  unchanged: Fields,
): Promise<Fields | undefined> {
  const same = Object.entries(unchanged).map(
    ([field, value]): Filter => ({ op: 'eq', field, value: (value ?? null) as Scalar }),
  )
  return engine.first(all([filter, ...same]))
}

/** How often the list of sessions may change while expired ones are dropped from it. */
const MAX_SWEEPS = 3

/**
 * Takes the step with the session added. Expired sessions, and the one that the new one replaces, are dropped in the
 * same step, if the list is still as it was read. Otherwise they would count, and the oldest live session would make
 * room.
 */
async function opened(
  auth: AuthInstance,
  refresh: RefreshSettings,
  user: Fields,
  entry: Session,
  step: Step,
): Promise<Fields | undefined> {
  const { filter, change, expect } = step
  const field = auth.names.refreshTokens
  const isAlive = (session: Session) =>
    session.id !== step.replaces && !isOver(auth, refresh, session)
  let read: Fields | undefined = user
  for (let tries = 0; read && tries < MAX_SWEEPS; tries += 1) {
    const sessions = sessionsOf(auth, read)
    if (sessions.every(isAlive)) break
    const list = [...sessions.filter(isAlive), entry].slice(-refresh.maxSessions)
    const signedIn = await taken(auth, {
      filter,
      change: { ...change, set: { ...change.set, [field]: list } },
      expect: { ...expect, [field]: read[field] },
    })
    if (signedIn) return signedIn
    read = await userById(auth, String(user._id))
  }
  return taken(auth, { filter, change: withSession(auth, refresh, user, entry, change), expect })
}

/** Adds the session; if the record holds no list, the value is replaced. */
function withSession(
  { names }: AuthInstance,
  refresh: RefreshSettings,
  user: Fields,
  entry: Session,
  change: Change,
): Change {
  const field = names.refreshTokens
  const stored = user[field] ?? []
  if (!Array.isArray(stored)) return { ...change, set: { ...change.set, [field]: [entry] } }
  const push = { ...change.push, [field]: { value: entry, cap: refresh.maxSessions } }
  return { ...change, push }
}

/** The data of spec 2.5. */
export function signInData(
  auth: AuthInstance,
  user: Fields,
  session: Pick<NewSession, 'token' | 'entry'> | undefined,
): SignInData {
  const { settings, names, tokens, now } = auth
  const id = String(user._id)
  const role = user[names.role] ?? settings.roles.default
  return {
    token: tokens.issue({
      id,
      role,
      changedAt: changedAt(auth, user),
      sessionId: session?.entry.id,
    }),
    expiresIn: settings.token.expiresIn,
    ...(session && {
      refreshToken: session.token,
      refreshExpiresIn: Math.round((session.entry.expiresAt.getTime() - now()) / 1000),
    }),
    user: shownUser(auth, user),
  }
}

/** Whether an error refuses the request, rather than being a failure of the server. */
export function isRefusal(error: unknown): boolean {
  return error instanceof HttpError && error.status < 500
}

/** Runs `onLogin`: returns the second step that it asks for; anything else that it throws refuses the sign-in. */
export async function runOnLogin(
  auth: AuthInstance,
  user: Fields,
  request: ApiRequest,
  step: SignInStep = {},
): Promise<SecondStepRequired | undefined> {
  try {
    const { onLogin } = auth.settings
    if (onLogin) {
      await inTime(request, () => onLogin(withoutSecrets(auth, user) as never, request, step))
    }
    return undefined
  } catch (error) {
    if (error instanceof SecondStepRequired) return error
    throw error
  }
}
