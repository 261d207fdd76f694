/**
 * The guards: who makes a request, and whether they may.
 *
 * They work on any router of an app that serves the auth router: the request's context leads to the app's instance.
 */

import { actingFor, begun, standing } from '../http/request/given-auth.ts'
import type { ApiRequest } from '../http/request/request.ts'
import { MisusedRequest, setUser } from '../http/request/shield.ts'
import type { Fields } from '../ports/store/records.ts'
import { describeGuard, followsAuth } from '../records/engine/guards.ts'
import type { Context, Guard } from '../records/engine/route.ts'
import { visitOf } from './instance/factors.ts'
import type { Asked, Auth } from './instance/instance.ts'
import { type AcceptedClaims, bearerToken, type Claims } from './keys/signing.ts'
import { fail } from './option-checks.ts'
import * as refuse from './refusals.ts'
import { checkRoles, hasRole, type RoleSettings } from './setup/roles.ts'
import type { AuthSettings } from './setup/settings.ts'

/** The guards of an auth router that its apps get, and those of its own routes. */
export interface Guards {
  readonly requireAuth: Guard
  readonly requireSession: Guard
  /** `requireSession` for routes at which a factor is set up: roles that need one may come without. */
  readonly enrolling: Guard
  readonly optionalAuth: Guard
  /**
   * The same for the routes of the auth router: without a token nobody is signed in there, whoever the session of another
   * server or the app's own guards have found. A cookie comes with requests that other sites cause, a token does not.
   */
  readonly tokenOnly: Guard
  readonly requireSecondFactor: Guard
}

export function guardsOf(
  instanceOf: (context: Context) => Auth,
  { requiredFor, methods }: Pick<AuthSettings, 'requiredFor' | 'methods'>,
): Guards {
  const byRole = requiredFor.length > 0 ? [refuse.factorNeeded(), refuse.secondFactorNeeded()] : []
  const byAny = [...byRole, ...methods.flatMap(({ bearerRefusals = [] }) => bearerRefusals)]
  const refusalsAt = { app: byAny, accounts: byRole, enrolment: [] } as const
  const guard = (token: 'required' | 'optional', at: Place): Guard => {
    const check: Guard = async (request, context) => {
      const auth = instanceOf(context)
      const bearer = bearerToken(request)
      if (bearer === undefined) return withoutToken(auth, request, token, at)
      const ask = () =>
        at === 'app'
          ? accountByAny(auth, request, bearer)
          : authenticate(auth, request, bearer, at === 'accounts')
      await ask()
      if (!areAlone(auth)) standing.set(request, again(request, auth.host.now(), ask))
    }
    const text = token === 'required' ? 'signed in' : 'anyone'
    return describeGuard(check, text, { token, refusals: refusalsAt[at] })
  }
  const requireSecondFactor: Guard = async (request, context) => {
    if (!request.auth) throw refuse.authenticationRequired()
    const auth = instanceOf(context)
    const user = await auth.users.byToken(request.auth.userId)
    if (!user || visitOf(auth, user, request)?.strongAt === undefined)
      throw refuse.secondFactorNeeded()
  }
  const refusals = [refuse.authenticationRequired(), refuse.secondFactorNeeded()]
  const strong = { token: 'required', refusals } as const
  return {
    requireAuth: guard('required', 'app'),
    requireSession: guard('required', 'accounts'),
    enrolling: guard('required', 'enrolment'),
    optionalAuth: guard('optional', 'app'),
    tokenOnly: guard('optional', 'accounts'),
    requireSecondFactor: describeGuard(requireSecondFactor, 'second factor', strong),
  }
}

/** Where a guard stands: in the app, at routes of accounts, or at those of them that set up a factor. */
type Place = 'app' | 'accounts' | 'enrolment'

/** In the app, signs the user in whom the app itself acts for. */
async function withoutToken(
  auth: Auth,
  request: ApiRequest,
  token: 'required' | 'optional',
  at: Place,
): Promise<void> {
  const acting = at === 'app' ? actingFor(request) : undefined
  if (acting) {
    const user = await auth.users.byToken(acting.userId)
    if (!user || auth.users.isDisabled(user)) throw refuse.notActive()
    return admit(auth, request, user, { sub: acting.userId }, false)
  }
  if (token === 'required') throw refuse.authenticationRequired()
  if (at !== 'app') delete request.auth
}

/** By the token of a session, or by that of a method, such as an API key. */
async function accountByAny(auth: Auth, request: ApiRequest, token: string): Promise<void> {
  const bearer = auth.methods.find((method) => method.bearer?.takes(token))?.bearer
  if (!bearer) return authenticate(auth, request, token)
  const read = await bearer.read(token, request)
  if (!read) throw refuse.invalidToken()
  const { user, claims } = read
  if (auth.users.isDisabled(user)) throw refuse.notActive()
  await admit(auth, request, user, { ...claims, sub: String(user._id) })
}

/** Makes `user` the one who makes the request. Throws a 403 if their role needs a second factor that they don't have. */
async function admit(
  auth: Auth,
  request: ApiRequest,
  user: Fields,
  claims: Fields & { readonly sub: string },
  needsFactor = true,
): Promise<void> {
  const { settings, users } = auth
  const role = (user[users.names.role] ?? settings.roles.default) as string | readonly string[]
  request.auth = { userId: claims.sub, role, claims }
  if (needsFactor && settings.requiredFor.length > 0) await auth.factors?.demand(user, request)
  setUser(request, withIdAlias(users.withoutSecrets(user)))
}

/** `onlyRole` of roles that your app names. Throws a `TypeError` for one that no route assigns. */
export function requireRoleGuard(
  roles: readonly string[],
  known: Pick<RoleSettings, 'list' | 'isListed'>,
): Guard {
  if (roles.length === 0 || roles.some((role) => typeof role !== 'string')) {
    fail(`requireRole() takes the names of roles`)
  }
  checkRoles('requireRole()', roles, known)
  return onlyRole(roles)
}

/** Refuses users who have none of `roles`; must come after `requireAuth`. */
export function onlyRole(roles: readonly string[]): Guard {
  const requireRole: Guard = (request) => {
    if (!request.auth) throw refuse.authenticationRequired()
    if (!hasRole(request.auth.role, roles)) throw refuse.noAccess()
  }
  const text = `role ${roles.join(' or ')}`
  return followsAuth(describeGuard(requireRole, text, { token: 'required', roles }))
}

export function isAdmin({ admin }: Pick<RoleSettings, 'admin'>, request: ApiRequest): boolean {
  return hasRole(request.auth?.role, admin)
}

/** Whether tokens alone decide: their time is all that ends them. */
function areAlone({ settings }: Auth): boolean {
  return !settings.token.invalidateOnPasswordChange && settings.requiredFor.length === 0
}

/** What asks again. It rejects with a 403 once the role is another one; what guards have made of `auth` stays. */
function again(request: ApiRequest, beganAt: number, ask: () => Promise<void>) {
  const role = String(request.auth?.role)
  return async () => {
    const { auth } = request
    // A token need not outlive the body.
    begun.set(request, beganAt)
    await ask()
    if (String(request.auth?.role) !== role) throw refuse.noAccess()
    if (auth) request.auth = auth
  }
}

async function authenticate(
  auth: Auth,
  request: ApiRequest,
  token: string,
  needsFactor?: boolean,
): Promise<void> {
  const { settings, users, refresh, sessions } = auth
  const isAlone = areAlone(auth)
  const ms = isAlone ? undefined : begun.of(request)
  const claims = auth.tokens.verify(token, ms) ?? auth.accepted?.accessToken(token, ms)
  if (!claims) throw refuse.invalidToken()
  if (isAlone) {
    const { sub, role = settings.roles.default } = claims
    request.auth = { userId: sub, role, claims: { ...claims } }
    return
  }
  const user = await users.byToken(claims.sub)
  if (!user) throw refuse.invalidToken()
  if (users.isDisabled(user)) {
    const changedAt = isOwn(claims) ? claims.pca : users.changedAt(user)
    // What a disabled user still has ends.
    await (refresh
      ? sessions.endThoseOfDisabled(user)
      : sessions.endTokensOfDisabled(user, changedAt))
    throw refuse.notActive()
  }
  if (hasEnded(auth, user, claims)) throw refuse.sessionEnded()
  await admit(auth, request, user, { ...claims }, needsFactor)
}

/** `user` with `id`, as Mongoose's records have it next to `_id`. JSON and copies do not have it twice. */
function withIdAlias(user: Fields): Fields {
  return Object.hasOwn(user, 'id') ? user : Object.defineProperty(user, 'id', ID_ALIAS)
}

/** One descriptor for all users: each request of a signed-in user takes it. */
const ID_ALIAS: PropertyDescriptor = {
  get(this: Fields) {
    return this._id
  },
  // In code without strict mode, a value that cannot be written would not tell.
  set() {
    throw new MisusedRequest('request.user.id cannot be written')
  },
}

/**
 * The signed-in user as they are now. What changes the ways into an account asks for it, also where tokens alone decide
 * (`invalidateOnPasswordChange: false`): a key that an ended session made would outlive it. Throws a 401 or 403.
 */
export async function presentUser(auth: Asked): Promise<Fields> {
  const { userId, claims } = auth.request.auth ?? {}
  const user = await auth.users.byId(userId)
  if (!user) throw refuse.invalidToken()
  if (auth.users.isDisabled(user)) throw refuse.notActive()
  if (hasEnded(auth, user, (claims ?? {}) as unknown as Claims)) throw refuse.sessionEnded()
  return user
}

/** Whether what `claims` rely on has ended: the password, or with refresh tokens the session. */
function hasEnded(
  { users, refresh }: Auth,
  user: Fields,
  claims: Claims | AcceptedClaims,
): boolean {
  // It names only the second, and no session: one of the same second as a password change counts as older.
  if (!isOwn(claims)) return claims.iat * 1000 < users.changedAt(user)
  if (users.changedAt(user) !== claims.pca) return true
  return refresh !== undefined && !refresh.live(user, claims.sid)
}

function isOwn(claims: Claims | AcceptedClaims): claims is Claims {
  return 'pca' in claims
}
