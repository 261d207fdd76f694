/** An instance of the authentication API: one auth router in one app, made when it is mounted. */

import type { Logger } from '../../ports/services/logger.ts'
import type { Fields } from '../../ports/store/records.ts'
import { Author } from '../../records/engine/author.ts'
import type { Host } from '../../records/engine/host.ts'
import { checkIds } from '../../records/engine/record-engine.ts'
import type { Guard, Handler } from '../../records/engine/route.ts'
import { SerialQueue } from '../../records/engine/serial-queue.ts'
import type { ModelFiles } from '../../uploads/model-files.ts'
import { Hashing } from '../keys/hashing.ts'
import { type Passwords, passwordsOf } from '../keys/passwords.ts'
import {
  type AcceptToken,
  type AccessTokens,
  accessTokens,
  type Keys,
  keysFor,
  type Purpose,
} from '../keys/signing.ts'
import { fail } from '../option-checks.ts'
import { type UsedTokens, usedTokenSchema, usedTokens } from '../providers/used-tokens.ts'
import { type Access, type AuthRequestInfo, handlerOf, type RouteName } from '../request-info.ts'
import type { StoredNames } from '../setup/field-names.ts'
import type { Accounts, MethodRoute, OpenMethod } from '../setup/method.ts'
import type { RoleSettings } from '../setup/roles.ts'
import type { RouteRow } from '../setup/routes.ts'
import type { AuthSettings } from '../setup/settings.ts'
import {
  type AfterResponse,
  afterResponse,
  type Breakers,
  breaker,
  type MailCheck,
  mailCheck,
} from './circuit-breaker.ts'
import { Codes } from './codes.ts'
import type { Factors } from './factors.ts'
import { KnownClients } from './known-clients.ts'
import { Lockout, type Reservation } from './lockout.ts'
import { ProvenIdentifiers } from './proven-identifiers.ts'
import { type ReadToken, type RefreshTokens, Sessions } from './sessions.ts'
import { type DummyWrite, dummyWrites, Users } from './users.ts'

export interface Auth {
  readonly host: Host
  readonly logger: Logger
  /** The path on which the router is mounted first. */
  readonly mount: string
  readonly settings: AuthSettings
  readonly names: StoredNames
  readonly roles: RoleSettings
  /** The file fields of the user model, including those of other routers that take uploads for it. */
  readonly files: ModelFiles
  readonly tokens: AccessTokens
  /** The tokens of another service, if they are accepted. */
  readonly accepted: AcceptedTokens | undefined
  readonly hashing: Hashing
  readonly dummyWrite: DummyWrite
  readonly breakers: Breakers
  readonly mailCheck: MailCheck
  readonly afterResponse: AfterResponse
  /** If a provider's tokens, or tickets of second steps, may sign in only once: the used ones. */
  readonly usedTokens: UsedTokens | undefined
  /** On a store that writes one record at a time, those who end an admin wait here. */
  readonly endingAdmins: SerialQueue
  readonly users: Users
  readonly clients: KnownClients
  readonly lockout: Lockout
  readonly sessions: Sessions
  /** Undefined without refresh tokens. */
  readonly refresh: RefreshTokens | undefined
  readonly codes: Codes
  readonly identifiers: ProvenIdentifiers
  readonly ticketKeys: Keys
  readonly passwords: Passwords
  /** What accounts' own methods and those of `methods` bring in this app. */
  readonly methods: readonly OpenMethod[]
  /** Undefined without `methods`, as `factors` is. */
  readonly machinery: Machinery | undefined
  readonly factors: Factors | undefined
}

/** An instance, and any request to the app. */
export type Asked = Auth & Pick<AuthRequestInfo, 'request'>

/** An instance at work on one request to its routes. */
export interface AuthRequest extends Auth, AuthRequestInfo {}

/** One route of accounts' own: its row in the table and its handler. */
export interface AuthRoute extends RouteRow<RouteName> {
  /** Called once per mount. */
  handler(auth: Auth): Handler
}

/**
 * A part of accounts that is made as methods are, but works on the instance itself: its code is in every app, so it needs
 * no machinery.
 */
export interface OwnMethod {
  readonly routes: readonly AuthRoute[]
  /** What keeps refresh tokens. */
  readonly RefreshTokens?: typeof RefreshTokens
  /** What it brings besides its routes; called once for each app. */
  open?(auth: Auth): Omit<OpenMethod, 'handlers'> & { readonly accepted?: AcceptedTokens }
  /** Start-up warnings about its options. */
  advice?(settings: AuthSettings): readonly (string | undefined)[]
}

/** Reads the tokens of another service, which are accepted beside our own during a move from there, and never issued. */
export interface AcceptedTokens {
  readonly accessToken: AcceptToken
  /** Reads refresh tokens, our own and those of the service. Undefined without refresh tokens. */
  readonly refreshToken: ReadToken | undefined
}

/** What a sign-in writes besides, and what must still be true besides at that moment. */
export interface SignIn {
  /** The right guess that the write clears; guesses counted meanwhile stay counted, because they are being evaluated. */
  readonly reservation?: Reservation
  readonly set?: Fields
  readonly expect?: Fields
  readonly isStrong?: boolean
}

export interface Machinery {
  /** The routes that every app with methods has. */
  readonly routes: readonly MethodRoute[]
  accountsFor(auth: Auth, method: string): Accounts
  factorsOf(auth: Auth): Factors
  handlerOf(auth: Auth, route: MethodRoute): Handler
  confirmSession(auth: AuthRequest, user: Fields, signIn: SignIn): Promise<Response | undefined>
}

export function createInstance(
  host: Host,
  settings: AuthSettings,
  mount: string,
  own: readonly OwnMethod[],
): Auth {
  const { now, logger } = host
  const name = { model: settings.model.name, mount: mount || '/' }
  const keys = (purpose: Purpose) => keysFor(settings.token.secret, name, purpose)
  const engine = host.engine(settings.model)
  checkIds(engine, host.database.name, fail)
  const users = new Users(engine, settings, now)
  const clients = new KnownClients(users, keys('known client'))
  const dummyWrite = dummyWrites(host.twin(settings.model, 'decoys'), settings, logger)
  const lockout = new Lockout(users, clients, settings.lockout, dummyWrite)
  const sessions = new Sessions(users)
  const [Refresh] = own.flatMap(({ RefreshTokens }) => RefreshTokens ?? [])
  const refresh = settings.refresh && Refresh && new Refresh(settings.refresh, sessions, keys)
  const codes = new Codes(users, clients, dummyWrite, keys('one-time code'))
  const identifiers = new ProvenIdentifiers({ users, sessions, clients, codes, lockout })
  const hashing = new Hashing()
  const senders = { email: breaker(now), sms: breaker(now) }
  const methods: OpenMethod[] = []
  const machinery = settings.methods[0]?.machinery as Machinery | undefined
  const auth: { -readonly [Part in keyof Auth]: Auth[Part] } = {
    host,
    logger,
    mount,
    settings,
    names: settings.names,
    roles: settings.roles,
    files: host.filesOf(settings.model),
    users,
    clients,
    lockout,
    sessions,
    refresh,
    codes,
    identifiers,
    ticketKeys: keys('sign-in ticket'),
    tokens: accessTokens(settings.token, name, keys('access token'), now),
    passwords: passwordsOf(settings.password, host.hasher, hashing, logger),
    hashing,
    dummyWrite,
    breakers: senders,
    mailCheck: mailCheck(settings.delivery, senders.email, now),
    afterResponse: afterResponse(),
    usedTokens: singleUse(host, settings),
    endingAdmins: new SerialQueue(),
    ...{ methods, machinery, factors: undefined, accepted: undefined },
  }
  for (const { open } of own) {
    const { accepted, ...opened } = open?.(auth) ?? {}
    auth.accepted ??= accepted
    methods.push({ handlers: {}, ...opened })
  }
  if (machinery) openMethods(auth, machinery, methods)
  auth.factors = machinery?.factorsOf(auth)
  if (settings.requiredFor.length > 0 && !auth.factors?.all.length) {
    throw new TypeError(`Auth: 'secondFactor' needs a second factor in 'methods', such as totp()`)
  }
  return auth
}

/** Opens the methods into `opened`; the parts of one have the same accounts. */
function openMethods(auth: Auth, machinery: Machinery, opened: OpenMethod[]): void {
  const known = new Map<string, Accounts>()
  for (const method of auth.settings.methods) {
    const accounts = known.get(method.name) ?? machinery.accountsFor(auth, method.name)
    known.set(method.name, accounts)
    opened.push(method.open(accounts))
  }
}

function singleUse(
  host: Host,
  { providers, model, onLogin, methods }: AuthSettings,
): UsedTokens | undefined {
  const isUsedOnce = [...providers.values()].some((provider) => provider.singleUse)
  if (!onLogin && methods.length === 0 && !isUsedOnce) return undefined
  return usedTokens(host.collection(usedTokenSchema), model.name, host.now)
}

type Work = (auth: AuthRequest) => Promise<Response>

/** A row of the table: `at` is its method and its path. */
export function route(
  name: RouteName,
  at: `${string} /${string}`,
  access: Access,
  work: Work,
  more: Partial<AuthRoute> = {},
): AuthRoute {
  const [method = '', path = ''] = at.split(' ')
  return { name, method, path, access, handler: (auth) => handlerOf(auth, work), ...more }
}

/** `work`, whose writes to users are in the log of changes as those of whoever sends the request. */
export function bySender(work: Work): Work {
  return (auth) => {
    if (!auth.users.model.changes) return work(auth)
    return work({ ...auth, users: auth.users.as(new Author(() => auth.request)) })
  }
}

export interface ServedRoute {
  readonly auth: Auth
  readonly route: AuthRoute | MethodRoute
  /** The guards that demand something, without those that take notes. */
  readonly guards: readonly Guard[]
}

const known = new WeakMap<Handler, ServedRoute>()

export function servesRoute(handler: Handler, served: ServedRoute): void {
  known.set(handler, served)
}

/** The route that `handler` serves; undefined if it is not one of the authentication API. */
export function routeServedBy(handler: Handler): ServedRoute | undefined {
  return known.get(handler)
}

export function isOfMethod(route: ServedRoute['route']): route is MethodRoute {
  return 'summary' in route
}
