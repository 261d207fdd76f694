/**
 * The options of `createAuthRouter` (spec 4.5, 5): names and types; settings.ts has their defaults.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import type { Managed, Model } from '../../model/model.ts'
import type { Fields } from '../../ports/store.ts'
import type { Guard } from '../../records/engine/route.ts'
import type { Duration } from '../option-checks.ts'
import type { SocialOptions } from '../providers/provider.ts'
import type { ClientOption } from './client.ts'
import type { MailOptions, OtpOptions, SmsOptions } from './delivery-options.ts'
import type { StoredName } from './field-names.ts'
import type { IdentifierOption } from './identifiers.ts'
import type { SecurityEvent } from './security-event.ts'
import type { SignInStep } from './sign-in-step.ts'

/** The routes of spec 4.5, and those of sessions (with refresh tokens only), of email verification and of account deletion. */
export type RouteName =
  | 'register'
  | 'login'
  | 'social'
  | 'forgotPassword'
  | 'resetPassword'
  | 'changePassword'
  | 'refresh'
  | 'logout'
  | 'logoutAll'
  | 'listSessions'
  | 'endSession'
  | 'me'
  | 'listUsers'
  | 'getUser'
  | 'updateUser'
  | 'modifyRoles'
  | 'endUserSessions'
  | 'sendEmailCode'
  | 'verifyEmail'
  | 'deleteUser'

/** Access tokens. */
export interface TokenOptions {
  /**
   * At least 32 characters, at random. Keys everything that is signed. Of a list the first signs and all verify, so that
   * a secret can be replaced without signing anyone out: `['new…', 'old…']`.
   */
  readonly secret: string | readonly string[]
  /** Default `'15m'`. */
  readonly expiresIn?: Duration
  /** `iss` on every token, and demanded of every token. Default: the path that the router is mounted on. */
  readonly issuer?: string
  /** `aud` on every token; a token must have one of them. Default: the name of the user model. */
  readonly audience?: string | readonly string[]
  /**
   * Whether each request reads the user, so that a password change and the end of a session end access tokens too.
   * Default true. False saves that read: access tokens then work until they expire, whatever happens to the session.
   */
  readonly invalidateOnPasswordChange?: boolean
}

/** Refresh tokens; what is left out comes from the environment, `AUTH_REFRESH_*`. */
export interface RefreshOptions {
  /** Default false. */
  readonly enabled?: boolean
  /** Whether each refresh replaces the token. Default true. */
  readonly rotate?: boolean
  /** Default `'30d'`; rotation starts it anew. */
  readonly expiresIn?: Duration
  /** Seconds in which a token that was replaced is still taken, for parallel requests. Default 10, at most 3600. */
  readonly graceSeconds?: number
  /** Whether a replaced token presented later ends every session of the user. Default true. */
  readonly revokeAllOnReuse?: boolean
  /** Default 5, at most 100; sessions that are over make room, then the oldest sign-in. */
  readonly maxSessions?: number
  /** The longest that a session can be kept alive by rotation. Default: no limit. */
  readonly maxLifetime?: Duration
}

/** Roles, by the names in `list`. */
export interface RolesOptions<Role extends string = string> {
  /** The roles that there are; `requireRole` takes no others. Default: the default role and the admin roles. */
  readonly list?: readonly Role[]
  /** Default `'user'`, or the list's first entry where it lacks that. */
  readonly default?: NoInfer<Role>
  /** The roles with access to the user routes. Default `['admin']`. */
  readonly admin?: NoInfer<Role> | readonly NoInfer<Role>[]
  /** The stored field. Default `'role'`. */
  readonly field?: string
  /** Whether the field holds a list of roles. Default false. */
  readonly multiple?: boolean
}

/** Lockout of accounts after failed sign-ins. */
export interface LockoutOptions {
  /** Default 10, at most 1,000,000. */
  readonly maxAttempts?: number
  /** Default 900, at most 30 days. */
  readonly lockSeconds?: number
  /** Whether a locked account answers 429 instead of the 401 that tells nothing. Default false. */
  readonly reveal?: boolean
}

/** A message that refuses a password, or nothing. */
export type PasswordVerdict = string | undefined | void

/** What `password.check` receives beside the password. */
export interface PasswordCheckContext {
  readonly request: ApiRequest
  /** The account whose password it will be, without its secrets; on sign-up the values to be stored. */
  readonly user: Fields
}

/** A list of common passwords in lower case, or a function that loads those of at least `least` characters. */
export type CommonPasswords =
  | ReadonlySet<string>
  | ((least: number) => ReadonlySet<string> | Promise<ReadonlySet<string>>)

/** Passwords. `hash` and `verify` replace scrypt; only `true` opens. */
export interface PasswordOptions {
  /** In characters. Default 8, from 6 to 64. */
  readonly minLength?: number
  /**
   * The passwords to refuse as too common. Default: a list of 49,000, loaded when the first password is set; none on
   * Workers, where `commonPasswords` of `fieldgate/common-passwords` is named for it. False refuses none.
   */
  readonly common?: boolean | CommonPasswords
  /**
   * Looks at a new password before it is hashed; a string refuses it with a 400. It has 5 seconds.
   */
  check?(plain: string, context: PasswordCheckContext): PasswordVerdict | Promise<PasswordVerdict>
  hash?(plain: string): string | Promise<string>
  verify?(plain: string, stored: string): boolean | Promise<boolean>
}

/** Guards before every route, or by the route's name; `all` comes first. */
export type MiddlewaresOption =
  | readonly Guard[]
  | { readonly [Name in RouteName | 'all']?: Guard | readonly Guard[] }

/** Email verification. */
export interface EmailVerificationOptions {
  /** Whether mailboxes can be proven: `POST /email/code`, `POST /email/verify`. Default false. */
  readonly enabled?: boolean
  /** Whether an account with an address signs in only once the address is proven (403 before). Default false. */
  readonly required?: boolean
}

/** The options that `userFields` reads too. */
export interface UserFieldsOptions {
  /** Default `['email']`. */
  readonly identifiers?: readonly IdentifierOption[]
  /** Stored names that differ from the default ones, and `disabled`, a boolean that blocks sign-in. */
  readonly fields?: { readonly [Name in StoredName]?: string }
  readonly social?: SocialOptions
  readonly refresh?: RefreshOptions
  readonly roles?: RolesOptions
  readonly emailVerification?: EmailVerificationOptions
}

/** What `createAuthRouter` takes. */
export interface AuthOptions<R, Role extends string = string> extends UserFieldsOptions {
  readonly roles?: RolesOptions<Role>
  /** The user model; see `userFields`. */
  readonly model: Model<R>
  readonly token: TokenOptions
  /** Fields that a sign-up may set beside the identifiers. Default: none. */
  readonly registerFields?: readonly (keyof R & string)[]
  /** Fields that `PATCH /users/:id` may change. Default: none. */
  readonly updateFields?: readonly (keyof R & string)[]
  /** What of a user others than he himself and admins see. Default: all but the secrets. */
  readonly visibleFields?: readonly (keyof R & string)[]
  readonly password?: PasswordOptions
  readonly lockout?: LockoutOptions
  readonly otp?: OtpOptions
  readonly mail?: MailOptions
  readonly sms?: SmsOptions
  /** `{{appName}}` in messages. Default: `APP_NAME` of the environment. */
  readonly appName?: string
  /**
   * Other paths by the route's name; false leaves the route out. `deleteUser` is there only where it is named: true, or
   * a path.
   */
  readonly routes?: { readonly [Name in RouteName]?: string | boolean }
  readonly middlewares?: MiddlewaresOption
  /**
   * The key of who sends a request, for the queue before password hashing and for security events. Default: the
   * address of the connection, of IPv6 its /64.
   */
  readonly client?: ClientOption
  /** After an account was made; if it fails, the account is taken back. */
  onRegister?(user: R & Managed, request: ApiRequest): unknown
  /**
   * Before a sign-in is answered; an HttpError refuses it, and counts as a guess at the password. A `SecondStepRequired`
   * asks the client for a second step, whose body `step.answer` then holds.
   */
  onLogin?(user: R & Managed, request: ApiRequest, step: SignInStep): unknown
  /** Takes security events, sync or async. Default: the logger, at `info`. */
  onSecurityEvent?(event: SecurityEvent): unknown
  /** Before an account is deleted; what it throws keeps the account. */
  onDelete?(user: R & Managed, request: ApiRequest): unknown
  /** As on a resource router, for `GET /users`. */
  readonly maxLimit?: number
  readonly defaultPageSize?: number
  readonly maxTimeMS?: number
  readonly countStrategy?: 'exact' | 'estimated' | 'none'
  readonly lean?: boolean
}
