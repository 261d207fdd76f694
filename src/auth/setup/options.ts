/** The options of `createAuthRouter`: names and types. resolve-settings.ts has their defaults. */

import type { $ZodType } from 'zod/v4/core'
import { HttpError } from '../../http/errors/errors.ts'
import type { ApiRequest } from '../../http/request/request.ts'
import type { Managed, Model } from '../../model/model.ts'
import type { Fields } from '../../ports/store/records.ts'
import type { Context, Guard } from '../../records/engine/route.ts'
import type { Duration } from '../option-checks.ts'
import type { SocialOptions } from '../providers/provider.ts'
import type { ClientOption, MethodRouteName, RouteName, SecurityEvent } from '../request-info.ts'
import type { MailOptions, NoticeKind, OtpOptions, SmsOptions } from './delivery-options.ts'
import type { StoredName } from './field-names.ts'
import type { IdentifierOption } from './identifiers.ts'
import type { Method } from './method.ts'

/** Second factors. */
export interface SecondFactorOptions<Role extends string = string> {
  /**
   * The roles that need a second factor. Until they have one, setting it up is all that their sessions can do; from then
   * on every sign-in asks for it. Default: none.
   */
  readonly requiredFor?: readonly NoInfer<Role>[]
}

/** Access tokens. */
export interface TokenOptions {
  /**
   * At least 32 random characters. Everything that is signed depends on it. In a list, the first secret signs and all
   * verify, so you can replace a secret without signing anyone out: `['new…', 'old…']`.
   */
  readonly secret: string | readonly string[]
  /** How long a token is valid; a number is in seconds. Default `'15m'`. */
  readonly expiresIn?: Duration
  /** The claim `iss`: set on every token, and required of every token. Default: the path on which the router is mounted. */
  readonly issuer?: string
  /** The claim `aud`: set on every token; a token must have one of the values. Default: the name of the user model. */
  readonly audience?: string | readonly string[]
  /**
   * Whether each request reads the user, so that a password change or the end of a session ends access tokens too.
   * Default true. False saves that read: access tokens then work until they expire, whatever happens to the session.
   */
  readonly invalidateOnPasswordChange?: boolean
}

/** The tokens of express-controller-sets, during a move from there. */
export interface LegacyTokenOptions {
  /** Its `token.secret`. In a list, each verifies. */
  readonly secret: string | readonly string[]
  /** Its `token.issuer`: access tokens must have it. Default: they have none. */
  readonly issuer?: string
  /** Its `token.audience`: access tokens must have it. Default: they have none. */
  readonly audience?: string
}

/** Refresh tokens; options left out come from the environment, `AUTH_REFRESH_*`. */
export interface RefreshOptions {
  /** Whether sign-ins return refresh tokens. Default false. */
  readonly enabled?: boolean
  /** Whether each refresh replaces the token. Default true. */
  readonly rotate?: boolean
  /** How long a session lasts; rotation starts it anew. A number is in seconds. Default `'30d'`. */
  readonly expiresIn?: Duration
  /** How long a replaced token is still accepted, in seconds, for parallel requests. Default 10, at most 3600. */
  readonly graceSeconds?: number
  /** Whether a replaced token that is used later ends every session of the user. Default true. */
  readonly revokeAllOnReuse?: boolean
  /**
   * The most sessions per user; expired sessions make room, then the one with the oldest sign-in. Default 5, at most
   * 100.
   */
  readonly maxSessions?: number
  /** The longest that rotation can keep a session alive. A number is in seconds. Default: no limit. */
  readonly maxLifetime?: Duration
}

/** Roles, by the names in `list`. */
export interface RolesOptions<Role extends string = string> {
  /** All roles; `requireRole` accepts no others. Default: the default role and the admin roles. */
  readonly list?: readonly Role[]
  /** The role of a new user. Default `'user'`, or the list's first entry if the list does not contain that. */
  readonly default?: NoInfer<Role>
  /** The roles with access to the user routes. Default `['admin']`, unless the list lacks it. */
  readonly admin?: NoInfer<Role> | readonly NoInfer<Role>[]
  /** The stored field. Default `'role'`. */
  readonly field?: string
  /** Whether the field holds a list of roles. Default false. */
  readonly multiple?: boolean
}

/** Lockout of accounts after failed sign-ins. */
export interface LockoutOptions {
  /** The number of failed sign-ins that lock an account. Default 10, at most 1,000,000. */
  readonly maxAttempts?: number
  /** How long it stays locked, in seconds. Default 900, at most 30 days. */
  readonly lockSeconds?: number
  /** Whether a locked account gets a 429 instead of the 401 that reveals nothing. Default false. */
  readonly reveal?: boolean
}

/** A message that refuses a password, or nothing. */
export type PasswordVerdict = string | undefined | void

/** The second argument of `password.check`, after the password. */
export interface PasswordCheckContext {
  readonly request: ApiRequest
  /** The account whose password it will be, without its secrets; on sign-up, the values to be stored. */
  readonly user: Fields
}

/** A list of common passwords in lower case, or a function that loads those of at least `least` characters. */
export type CommonPasswords =
  | ReadonlySet<string>
  | ((least: number) => ReadonlySet<string> | Promise<ReadonlySet<string>>)

/** Passwords. `hash` and `verify` replace scrypt; only `true` from `verify` counts as a match. */
export interface PasswordOptions {
  /** The shortest password, in characters. Default 8, from 6 to 64. */
  readonly minLength?: number
  /**
   * The passwords to refuse as too common. Default: a list of 49,000, loaded when the first password is set; on Workers
   * none, unless you pass `commonPasswords` of `fieldgate/common-passwords`. False refuses none.
   */
  readonly common?: boolean | CommonPasswords
  /** Checks a new password before it is hashed; return a string to refuse it with a 400. It has 5 seconds. */
  check?(plain: string, context: PasswordCheckContext): PasswordVerdict | Promise<PasswordVerdict>
  /** Returns a hash to store. Set it together with `verify`. */
  hash?(plain: string): string | Promise<string>
  /** Whether `plain` matches `stored`. Set it together with `hash`. */
  verify?(plain: string, stored: string): boolean | Promise<boolean>
}

/** Guards before every route, or by the route's name; `all` run first. */
export type MiddlewaresOption =
  | readonly Guard[]
  | { readonly [Name in RouteName | MethodRouteName | 'all']?: Guard | readonly Guard[] }

/** Email verification. */
export interface EmailVerificationOptions {
  /** Whether mailboxes can be proven: `POST /email/code`, `POST /email/verify`. Default false. */
  readonly enabled?: boolean
  /** Whether an account with an address can sign in only once the address is proven (403 before). Default false. */
  readonly required?: boolean
}

/** The options that `userFields` reads too. */
export interface UserFieldsOptions {
  /** The fields that identify a user at sign-in. Default `['email']`. */
  readonly identifiers?: readonly IdentifierOption[]
  /** Stored names that differ from the default ones, and `disabled`, a boolean field that blocks sign-in. */
  readonly fields?: { readonly [Name in StoredName]?: string }
  /** Sign-in through Google, Apple, Facebook, GitHub or your own provider. Default: none. */
  readonly social?: SocialOptions
  /** Refresh tokens. Default: off. */
  readonly refresh?: RefreshOptions
  /** The roles of users. Default: `'user'` and `'admin'`. */
  readonly roles?: RolesOptions
  /** Proof of e-mail addresses by a code. Default: off. */
  readonly emailVerification?: EmailVerificationOptions
}

/** Options of `createAuthRouter`. */
export interface AuthOptions<R, Role extends string = string>
  extends Omit<UserFieldsOptions, 'fields'> {
  /**
   * Names under which fields are stored that differ from the default ones, and `disabled`, a boolean field that blocks
   * sign-in. Without `model` also fields of your own, as zod schemas: `{ name: z.string() }`.
   */
  readonly fields?: Readonly<Record<string, string | $ZodType>>
  /** The roles of users. Default: `'user'` and `'admin'`. */
  readonly roles?: RolesOptions<Role>
  /**
   * The user model; see `userFields`. Default: one with what these options need and the schemas in `fields`, which is then
   * `auth.model`.
   */
  readonly model?: Model<R>
  /** The name of the model that is made without `model`. Default `'User'`. */
  readonly name?: string
  /** Access tokens and the secret; the only required option besides `model`. */
  readonly token: TokenOptions
  /**
   * Accepts the tokens of express-controller-sets 3: access tokens until they expire, and refresh tokens once, which are
   * swapped for our own. Sessions end on both sides by a sign-out on either. Default: they are refused.
   */
  readonly legacyTokens?: LegacyTokenOptions
  /** Fields that a sign-up may set besides the identifiers. Default: none. */
  readonly registerFields?: readonly (keyof R & string)[]
  /** Fields that `PATCH /users/:id` may change. Default: none. */
  readonly updateFields?: readonly (keyof R & string)[]
  /**
   * The fields of a user that other users see, also through references. A user sees all of their own fields, and an admin
   * sees everyone's, except secrets. Default: all but the secrets.
   */
  readonly visibleFields?: readonly (keyof R & string)[]
  /** Further ways to sign in, each from a module of its own: `[apiKeys()]`. Default: none. */
  readonly methods?: readonly Method[]
  /** Which roles need a second factor; for that, one of `methods` must have one. */
  readonly secondFactor?: SecondFactorOptions<Role>
  /** Rules for passwords, and how they are hashed. */
  readonly password?: PasswordOptions
  /** When failed sign-ins lock an account. */
  readonly lockout?: LockoutOptions
  /** The length, lifetime and delivery of one-time codes. */
  readonly otp?: OtpOptions
  /** How mail is sent. Default: by the server in the variables `SMTP_URL` or `SMTP_HOST`, if one is set. */
  readonly mail?: MailOptions
  /** How SMS are sent. Default: not at all, so there are no codes by SMS. */
  readonly sms?: SmsOptions
  /**
   * What the owner of an account is told by mail, at the proven address: true for everything, or a list. Default: true;
   * with `otp.deliver` only `['address']`.
   */
  readonly notices?: boolean | readonly NoticeKind[]
  /** `{{appName}}` in messages. Default: the variable `APP_NAME`. */
  readonly appName?: string
  /** Other paths by the route's name; false turns a route off. `deleteUser` is off unless you set it to true or a path. */
  readonly routes?: { readonly [Name in RouteName]?: string | boolean }
  /** Guards before the routes, e.g. a rate limiter. Default: none. */
  readonly middlewares?: MiddlewaresOption
  /**
   * Returns a key for the client that sent a request, for the queue before password hashing and for security events.
   * Default: the address of the connection, for IPv6 its /64.
   */
  readonly client?: ClientOption
  /** Runs after an account was created; if it fails, the account is removed again. */
  onRegister?(user: R & Managed, request: ApiRequest, context: Context): unknown
  /**
   * Runs before a sign-in responds. Throw an HttpError to refuse the sign-in; that counts as a guess at the password.
   * Throw a `SecondStepRequired` to ask the client for a second step, whose body is then in `step.answer`.
   */
  onLogin?(user: R & Managed, request: ApiRequest, step: SignInStep, context: Context): unknown
  /** Receives security events, sync or async. Default: the logger, at `info`. */
  onSecurityEvent?(event: SecurityEvent): unknown
  /** Runs before an account is deleted; if it throws, the account stays. */
  onDelete?(user: R & Managed, request: ApiRequest, context: Context): unknown
  /** As on a resource router, for `GET /users`. */
  readonly maxLimit?: number
  readonly defaultPageSize?: number
  readonly maxTimeMS?: number
  readonly countStrategy?: 'exact' | 'estimated' | 'none'
  readonly lean?: boolean
}

/**
 * Throw it in `onLogin` if the sign-in needs a second step. The client gets a 401 with `message`, a `ticket` and
 * `expiresIn` (seconds), and sends `POST /login` with the ticket and what the second step asks for. `onLogin` then
 * runs again with that body as `step.answer`.
 */
export class SecondStepRequired extends HttpError {
  override readonly name: string = 'SecondStepRequired'

  constructor(message = 'A second step is needed to sign in.') {
    super(401, message, { headers: { 'WWW-Authenticate': 'Bearer' } })
  }
}

/** The step of a sign-in in which `onLogin` runs. */
export interface SignInStep {
  /** The body of the request that brought the ticket back; undefined in the first step. */
  readonly answer?: Fields
}
