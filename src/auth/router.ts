/** `createAuthRouter`: the authentication API for your own user model. */

import type { $ZodType } from 'zod/v4/core'
import { jsonResponse } from '../http/response/respond.ts'
import type { Model } from '../model/model.ts'
import { needsInApp } from '../records/engine/guards.ts'
import { type Host, hostOf, type Mountable } from '../records/engine/host.ts'
import type { Context, Guard, Route } from '../records/engine/route.ts'
import { type OwnMails, sendOwn } from './delivery/messages.ts'
import { type Guards, guardsOf, isAdmin, onlyRole, requireRoleGuard } from './guards.ts'
import { type Auth, type AuthRoute, createInstance, servesRoute } from './instance/instance.ts'
import { fail, needsPart } from './option-checks.ts'
import { type AccountsPart, ALL_PARTS, accounts } from './parts.ts'
import type { SocialOptions } from './providers/provider.ts'
import {
  type Access,
  type MethodRouteName,
  neverStored,
  noteRequest,
  type RouteName,
} from './request-info.ts'
import { refusesInSteps } from './routes/even-time.ts'
import type { SecretName, StoredName } from './setup/field-names.ts'
import type { IdentifierOption } from './setup/identifiers.ts'
import type { Method } from './setup/method.ts'
import {
  checkAgreement,
  guessAdvice,
  modelAdvice,
  protectedFields,
  unmounted,
} from './setup/model-checks.ts'
import type { AuthOptions, RolesOptions } from './setup/options.ts'
import { resolveSettings } from './setup/resolve-settings.ts'
import { methodRoutes, type RouteRow } from './setup/routes.ts'
import type { AuthChoices, AuthChosen, ServedAccounts } from './setup/served.ts'
import type { AuthSettings } from './setup/settings.ts'
import { secretAdvice } from './setup/token-settings.ts'
import { type OwnInput, type OwnUser, withModel } from './setup/user-fields.ts'

/** A route as `router.urls` lists it; its path is relative to the mount. */
export interface AuthUrl {
  readonly name: RouteName | MethodRouteName
  readonly method: string
  readonly path: string
  readonly access: Access
}

/** The routes to mount; `T` tells the typed client what they are. */
export interface AuthRoutes<T = unknown> extends Mountable<T> {
  /** The routes that are enabled. */
  readonly urls: readonly AuthUrl[]
}

/** The result of `createAuthRouter`; `Role` are the names in `roles.list`, if the compiler knows them. */
export interface AuthRouter<Role extends string = string, T = unknown, M = Model> {
  /** The user model: the one that was given, or the one that was made. */
  readonly model: M
  /** The routes, for `app.mount('/auth', auth.router)`. */
  readonly router: AuthRoutes<T>
  /** Refuses a request that is not signed in with a 401; otherwise sets `request.auth` and `request.user`. */
  readonly requireAuth: Guard
  /**
   * Refuses a user who has none of the roles with a 403; put it after `requireAuth`. Throws a `TypeError` for a role
   * that is not in `roles.list`; without a list, for one that looks like a misspelling.
   */
  readonly requireRole: (...roles: (Role | readonly Role[])[]) => Guard
  /** Like `requireAuth`, but takes no API keys. */
  readonly requireSession: Guard
  /** Refuses a user who has not signed in with a second factor with a 403; put it after `requireAuth`. */
  readonly requireSecondFactor: Guard
  /** Like `requireAuth`, but lets a request without a token pass. A bad token is still a 401. */
  readonly optionalAuth: Guard
  /** Sends mails of your own, also from jobs: `auth.mail.send({ to, subject, text, html? })`. */
  readonly mail: OwnMails
}

/**
 * The authentication API, for a user model of your own or for one that it makes: `auth.model`. Throws a `TypeError` that starts with `Auth:` and names the option if one
 * makes no sense; what depends on the environment is checked when the router is mounted.
 *
 * ```ts
 * const auth = createAuthRouter({ token: { secret }, fields: { name: z.string() }, registerFields: ['name'] })
 * const Note = defineModel('Note', { fields: { text: z.string(), owner: ref('User') } })
 * app.mount('/auth', auth.router)
 * app.mount('/notes', createRouter({ model: Note, ownedBy: 'owner' }))
 * ```
 */
export function createAuthRouter<
  const F = Record<never, never>,
  const N extends readonly IdentifierOption[] = readonly ['email'],
  const S = undefined,
  const L = undefined,
  // Without a model there is nothing to infer these from.
  R = OwnUser<F, N, S, L>,
  I = OwnInput<F, N, S, L>,
  const Role extends string = string,
  const A extends readonly (keyof R & string)[] = readonly [],
  const U extends readonly (keyof R & string)[] = readonly [],
  const T extends AuthOptions<R>['routes'] = undefined,
  const E extends AuthOptions<R>['refresh'] = undefined,
  const V extends AuthOptions<R>['emailVerification'] = undefined,
  const M extends readonly Method[] = readonly [],
>(
  options: AuthOptions<NoInfer<R>, Role> & {
    readonly model?: Model<R, I>
    readonly fields?: F & {
      readonly [K in Exclude<keyof NoInfer<F>, StoredName>]: string extends K ? unknown : $ZodType
    }
    readonly social?: S | SocialOptions
    readonly roles?: L | RolesOptions<Role>
  } & AuthChosen<NoInfer<R>, N, A, U, T, E, V, M>,
): AuthRouter<
  Role,
  // Written out, so that the declarations of an app, which its front end reads, don't name its secrets.
  ServedAccounts<
    { [K in keyof R as Exclude<K, SecretName>]: R[K] },
    unknown extends I ? I : { [K in keyof I as Exclude<K, SecretName>]: I[K] },
    AuthChoices<N, A, U, T, E, V, M>
  >,
  Model<R, I>
> {
  return routerWith(ALL_PARTS, options as unknown as AuthOptions<never>) as never
}

/**
 * `createAuthRouter` with the parts of accounts that you name, so a bundler leaves out the others. Each part is for one
 * option, which throws a `TypeError` without it.
 *
 * ```ts
 * import { accountsWith, github, sessions } from 'fieldgate/accounts'
 *
 * const createAuthRouter = accountsWith(github, sessions)
 * ```
 */
export function accountsWith(...parts: readonly AccountsPart[]): typeof createAuthRouter {
  return ((options: AuthOptions<never>) => routerWith(parts, options)) as never
}

function routerWith(parts: readonly AccountsPart[], options: AuthOptions<never>): AuthRouter {
  const given = withModel(options)
  const { legacyTokens } = given ?? {}
  if (legacyTokens && !parts.some(({ option }) => option === 'legacyTokens')) {
    needsPart('legacyTokens', 'legacyTokens')
  }
  const own = [...new Set([accounts, ...parts.flatMap(({ methods }) => methods(given ?? {}))])]
  const rows = own.flatMap(({ routes }) => routes)
  const makers = new Map(parts.flatMap(({ option, maker }) => (maker ? [[option, maker]] : [])))
  let settings = resolveSettings(given, rows, makers, undefined)
  const instances = new WeakMap<Host, Auth>()
  const instanceOf = ({ store }: Pick<Context, 'store'>): Auth => {
    const auth = instances.get(hostOf(store))
    if (!auth) fail(`a guard runs in an app that does not mount the auth router`)
    return auth
  }
  const guards = guardsOf(instanceOf, settings)
  for (const [name, guard] of Object.entries(guards)) {
    needsInApp(guard, (host, place) => {
      if (!instances.has(host)) fail(unmounted(name, place, host))
    })
  }
  const { requireAuth, requireSession, requireSecondFactor, optionalAuth } = guards
  const router: AuthRoutes<never> = {
    get urls() {
      return [...rows, ...methodRoutes(settings.methods)]
        .filter(({ name }) => settings.paths.has(name))
        .map(({ name, method, access }) => ({
          name: name as AuthUrl['name'],
          method,
          path: settings.paths.get(name) as string,
          access,
        }))
    },
    wellKnown: () => settings.methods.flatMap(({ wellKnown = {} }) => wellKnownRoutes(wellKnown)),
    attach(host, mount) {
      settings = resolveSettings(given, rows, makers, host.env)
      const { token } = settings
      const all = [
        modelAdvice(settings),
        guessAdvice(settings),
        secretAdvice(token.secret),
        ...own.flatMap(({ advice }) => advice?.(settings) ?? []),
      ]
      for (const advice of all) {
        if (advice !== undefined) host.logger.warn(`Auth router '${mount}': ${advice}`)
      }
      // A router that is mounted twice is one instance, because its guards know no mount.
      const known = instances.get(host)
      const auth = known ?? createInstance(host, settings, mount, own)
      instances.set(host, auth)
      if (!known) auth.users.markWrites(auth.sessions.allEnded)
      if (!host.accounts.has(settings.model)) host.accounts.set(settings.model, requireAuth)
      declareModel(host, settings)
      checkAgreement(host, { mount, settings })
      const [secret] = token.secret
      host.onReady(() => host.shareSecret(`Auth router '${mount}': 'token.secret'`, secret))
      return routeTable(auth, rows, guards)
    },
  }
  return {
    router,
    model: settings.model,
    requireAuth,
    requireSession,
    requireSecondFactor,
    requireRole: (...roles) => requireRoleGuard(roles.flat(), settings.roles),
    optionalAuth,
    mail: { send: (mail) => sendOwn(settings.delivery.mail, mail) },
  }
}

/** Tells the routers of records what clients may not write of users, and what they see of others. */
function declareModel(host: Host, settings: AuthSettings): void {
  const { model, names, roles, visibleFields } = settings
  host.protect(model, protectedFields(settings), names.role)
  if (!visibleFields) return
  const others = new Set(['_id', ...visibleFields])
  host.declareShown(model, (request) => (isAdmin(roles, request) ? undefined : others))
}

function wellKnownRoutes(files: Readonly<Record<string, object>>): readonly Route[] {
  return Object.entries(files).map(([path, content]) => ({
    ...{ method: 'GET', path, guards: [], about: { summary: 'What browsers look up' } },
    handler: () => jsonResponse(JSON.stringify(content)),
  }))
}

function routeTable(auth: Auth, rows: readonly AuthRoute[], own: Guards): readonly Route[] {
  const { settings } = auth
  const shared = [neverStored, ...settings.middlewares()]
  const table = [...rows, ...methodRoutes(settings.methods)].flatMap((route): Route[] => {
    const { name, method, hidesAccounts } = route
    const path = settings.paths.get(name)
    const given =
      path !== undefined &&
      ('handler' in route ? route.handler(auth) : auth.machinery?.handlerOf(auth, route))
    if (!given) return []
    const handler = hidesAccounts ? refusesInSteps(given) : given
    const demanding = [...settings.middlewares(name), ...accessGuards(route, own, settings)]
    servesRoute(handler, { auth, route, guards: demanding })
    const guards = [noteRequest(settings.client, name), ...demanding]
    return [{ method, path, guards, handler, shared }]
  })
  // The first match responds: '/logout' is not the ':provider' of a '/:provider'.
  const parameters = ({ path }: Route) => path.split('/:').length
  return table.sort((a, b) => parameters(a) - parameters(b))
}

function accessGuards(
  { access, optionalAuth, enrols }: Pick<RouteRow, 'access' | 'optionalAuth' | 'enrols'>,
  own: Guards,
  { roles }: AuthSettings,
): readonly Guard[] {
  if (optionalAuth) return [own.tokenOnly]
  if (access === 'anyone') return []
  const signedIn = enrols ? own.enrolling : own.requireSession
  return access === 'admin' ? [signedIn, onlyRole(roles.admin)] : [signedIn]
}
