/** What the routes of an auth router take and give, by their names. */

import type { RouteName } from '../../auth/request-info.ts'
import type { SecretName } from '../../auth/setup/field-names.ts'
import type { AuthChoices, ServedAccounts } from '../../auth/setup/served.ts'
import type { Counted } from '../lists/lists.ts'
import type { CallOptions } from '../sending/call-options.ts'
import type { Result } from '../sending/results.ts'
import type { Added, Sent, Wire } from '../shapes.ts'
import type { CallsOf, MethodCalls, OidcCeremonies, PasskeyCeremonies } from './method-calls.ts'

/** Any auth router. */
// biome-ignore lint/suspicious/noExplicitAny: every router is meant, whatever its types are
export type AnyAccounts = ServedAccounts<any, any, any>

/** A user as responses show it. */
export type UserOf<T extends AnyAccounts> = Added & {
  readonly [K in keyof T['record'] as K extends SecretName ? never : K]: Wire<T['record'][K]>
}

/** What a sign-in returns. The client keeps the tokens. */
export interface SignedIn<T extends AnyAccounts> extends Refreshed {
  /** Seconds until the access token expires. */
  readonly expiresIn: number
  readonly user: UserOf<T>
  /** On a sign-in through a provider. */
  readonly provider?: string
}

/** A session of the user. */
export interface SessionInfo {
  readonly id: string
  readonly createdAt: string
  readonly lastUsedAt: string
  readonly expiresAt: string
  /** Whether it is the session of this request. */
  readonly current: boolean
}

type NameOf<I> = I extends string ? I : I extends { readonly field: infer F } ? F : never
type Identifiers<T extends AnyAccounts> = NameOf<T['options']['identifiers'][number]> & string
type Inputs<T extends AnyAccounts> = unknown extends T['input'] ? T['record'] : T['input']
type Chosen<T extends AnyAccounts, L> = {
  readonly [K in keyof Inputs<T> as K extends (L extends readonly (infer N)[] ? N : never)
    ? K
    : never]: Sent<Inputs<T>[K]>
}

/** Names an account: `identifier`, or an identifier under its own name. */
type Account<T extends AnyAccounts> =
  | { readonly identifier: string }
  | { readonly [Name in Identifiers<T>]: { readonly [N in Name]: string } }[Identifiers<T>]

/** For a client that keeps no session: the refresh token of one. */
type Refreshing = { readonly refreshToken: string }

/** New tokens. The refresh token is there if it was given. */
export interface Refreshed {
  readonly token: string
  readonly expiresIn?: number
  readonly refreshToken?: string
  readonly refreshExpiresIn?: number
}

type SecondStep = { readonly ticket: string } & Readonly<Record<string, unknown>>
type Message = Promise<Result<string>>

/** What a mailed code signs in with, and `registerFields` where it may be a sign-up. */
type CodeOf<T extends AnyAccounts> =
  'emailCode' extends NamesOf<T['options']['methods']>
    ? Account<T> & { readonly otp: string } & Partial<Chosen<T, T['options']['registerFields']>>
    : never

/** Options of `listUsers`: the identifiers and the role are equality filters. */
type UserList<T extends AnyAccounts> = {
  readonly [Name in Identifiers<T> | 'role']?: string
} & { readonly page?: number; readonly pageSize?: number }

/** Every route by its name. Those of sessions that this client does not keep take a refresh token. */
export interface Routes<T extends AnyAccounts> {
  /** Creates an account and signs in, unless the address has to be proven first: then only `user` is there. */
  register(
    body: { readonly [Name in Identifiers<T>]?: string } & { readonly password: string } & Chosen<
        T,
        T['options']['registerFields']
      >,
    options?: CallOptions,
  ): Promise<Result<SignedIn<T> | { readonly user: UserOf<T>; readonly token?: undefined }>>
  /** Signs in. A failure with a `ticket` asks for a second step: send it with what the step needs. */
  login(
    body: (Account<T> & { readonly password: string }) | CodeOf<T> | SecondStep,
    options?: CallOptions,
  ): Promise<Result<SignedIn<T>>>
  /** Signs in through a provider. */
  social(
    provider: string,
    body: Readonly<Record<string, unknown>>,
    options?: CallOptions,
  ): Promise<Result<SignedIn<T>>>
  forgotPassword(
    body: Account<T> & { readonly channel?: 'email' | 'sms' },
    options?: CallOptions,
  ): Message
  resetPassword(
    body: Account<T> & { readonly code: string; readonly newPassword: string },
    options?: CallOptions,
  ): Message
  /** Ends every session, this one too. */
  changePassword(
    body: { readonly currentPassword: string; readonly newPassword: string },
    options?: CallOptions,
  ): Message
  /** Gets new tokens now; calls do that by themselves when they need it. */
  refresh(body?: Refreshing, options?: CallOptions): Promise<Result<Refreshed>>
  /** Ends the session, here even if the server cannot be reached. */
  logout(body?: Refreshing, options?: CallOptions): Message
  logoutAll(options?: CallOptions): Message
  listSessions(options?: CallOptions): Promise<Result<SessionInfo[]>>
  endSession(id: string, options?: CallOptions): Message
  me(options?: CallOptions): Promise<Result<UserOf<T>>>
  listUsers(list?: UserList<T>, options?: CallOptions): Promise<Result<UserOf<T>[], Counted>>
  getUser(id: string, options?: CallOptions): Promise<Result<Partial<UserOf<T>> & Added>>
  updateUser(
    id: string,
    changes: Partial<Chosen<T, T['options']['updateFields']>> & {
      readonly currentPassword?: string
    },
    options?: CallOptions,
  ): Promise<Result<UserOf<T>>>
  modifyRoles(
    id: string,
    body: { readonly role: string } | { readonly roles: readonly string[] },
    options?: CallOptions,
  ): Promise<Result<UserOf<T>>>
  endUserSessions(id: string, options?: CallOptions): Message
  sendEmailCode(body?: { readonly identifier: string }, options?: CallOptions): Message
  verifyEmail(
    body: {
      readonly identifier?: string
      readonly otp: string
      readonly password?: string
    },
    options?: CallOptions,
  ): Message
  deleteUser(
    id: string,
    body?: { readonly currentPassword: string },
    options?: CallOptions,
  ): Message
}

/** The calls that methods have besides their routes. */
export interface Ceremonies<S> {
  readonly passkeys: PasskeyCeremonies<S>
  readonly oidc: OidcCeremonies<S>
}

type NamesOf<M> = M extends readonly (infer E)[]
  ? E extends { readonly name: infer N }
    ? N
    : never
  : never

/** The calls of the methods. */
type OfMethods<T extends AnyAccounts, N = NamesOf<T['options']['methods']>> = Pick<
  MethodCalls,
  'confirmLogin' | CallsOf[N & keyof CallsOf]
> &
  Pick<Ceremonies<SignedIn<T>>, N & keyof Ceremonies<unknown>>

type OfSessions =
  | 'refresh'
  | 'logout'
  | 'logoutAll'
  | 'listSessions'
  | 'endSession'
  | 'endUserSessions'
type IsOff<O> = O extends { readonly enabled: false } ? true : O extends object ? false : true

/** The routes that are turned off, or whose option is not there. */
type Absent<O extends AuthChoices<unknown, unknown, unknown, unknown, unknown, unknown>> =
  | (IsOff<O['refresh']> extends true ? OfSessions : never)
  | (IsOff<O['emailVerification']> extends true ? 'sendEmailCode' | 'verifyEmail' : never)
  | (O['routes'] extends { readonly deleteUser: string | true } ? never : 'deleteUser')
  | {
      [Name in keyof O['routes']]: O['routes'][Name] extends false ? Name : never
    }[keyof O['routes']]

/** The routes of an auth router that are enabled. */
export type AccountsClient<T extends AnyAccounts> = Pick<
  Routes<T>,
  Exclude<RouteName, Absent<T['options']>>
> &
  (T['options']['methods'] extends readonly [] ? unknown : OfMethods<T>)
