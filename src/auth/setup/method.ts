/**
 * The seam of ways to sign in: what a method gives to an auth router, and what it gets. Our own methods are built on it,
 * and so can yours be.
 */

import type { $ZodType } from 'zod/v4/core'
import type { HttpError } from '../../http/errors/errors.ts'
import type { ApiRequest } from '../../http/request/request.ts'
import type { Model } from '../../model/model.ts'
import type { Logger } from '../../ports/services/logger.ts'
import type { Fields } from '../../ports/store/records.ts'
import type { Collection } from '../../ports/store/store.ts'
import type { Host } from '../../records/engine/host.ts'
import type { Access, SecurityEventType } from '../request-info.ts'
import type { OtpOptions } from './delivery-options.ts'

/** A method, for the option `methods` of `createAuthRouter`, as `defineMethod` takes it. */
export interface MethodDefinition<Name extends string = string> {
  /** What errors and logs call it. */
  readonly name: Name
  /** Set if it may be listed several times: what tells one from another. All have the same `routes` and get the same `accounts`. */
  readonly part?: string
  /** Whether it can prove email addresses without sending mail. */
  readonly provesEmail?: true
  /** Its routes. They also answer to `middlewares`, and are listed in `router.urls`, the document and the audit. */
  readonly routes: readonly MethodRoute[]
  /** What a request with a token of its `bearer` is refused with, besides a 401; for the document. */
  readonly bearerRefusals?: readonly HttpError[]
  /** JSON that anyone may read at well-known addresses, by their whole paths. */
  readonly wellKnown?: Readonly<Record<string, object>>
  /** Called once for each app that mounts the auth router, before start-up. Throw a `TypeError` for what cannot work. */
  open(accounts: Accounts): OpenMethod
}

/** A method that `defineMethod` has made; `Name` tells the typed client which routes there are. */
export interface Method<Name extends string = string> extends MethodDefinition<Name> {
  /** What works methods. It comes with them, so that apps without any have none of it. */
  readonly machinery: { readonly routes: readonly MethodRoute[] }
}

/** A route of a method, its path relative to the auth router's mount. */
export interface MethodRoute {
  /** Unique among all routes of the auth router. */
  readonly name: string
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  /** Who may call it. API keys never may. */
  readonly access: Access
  /** Whether a token is checked if one is sent, where anyone may call it. */
  readonly optionalAuth?: true
  /** Whether anyone may name an account here: refusals then leave in even steps of time. */
  readonly hidesAccounts?: true
  /** Whether it serves to set up a factor: those may call it whose role needs one that they don't have. */
  readonly enrols?: true
  /** What it does, in one line. */
  readonly summary: string
  /** The JSON body, for the document; the handler checks it. */
  readonly body?: $ZodType
  /** The parameters of the query string, for the document; the handler checks them. */
  readonly query?: $ZodType
  /** `data` of the response, for the document. Default: a message. */
  readonly response?: $ZodType
  /** Whether the response is that of a sign-in, by `accounts.signIn`; for the document and the audit. */
  readonly signsIn?: true
  /** Default 200. A 302 has no body. */
  readonly status?: 201 | 302
  /** What the handler throws besides, for the document. */
  readonly refusals?: readonly HttpError[]
}

/** A method in one app. */
export interface OpenMethod {
  /** The handlers, by the name of their route. */
  readonly handlers: Readonly<Record<string, (request: ApiRequest) => Promise<Response>>>
  /** The only values of parameters, for the document: by the route's name and the parameter's. Those of all parts count. */
  readonly choices?: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>
  /** Signs in by a body of `POST /login` that is this method's. */
  readonly signIn?: SignInMethod
  /** The second factors that it brings. */
  readonly secondFactors?: readonly SecondFactor[]
  /** Takes tokens of its own after `Authorization: Bearer`. */
  readonly bearer?: Bearer
  /** Whether `user` can sign in by it alone, so that other ways in may be removed. */
  opens?(user: Fields): Promise<boolean>
  /** Removes what it keeps of an account that was deleted. What is left must open nothing. */
  forget?(userId: string): Promise<void>
}

/** A way to sign in at `POST /login`, and to confirm at `POST /login/confirm`. */
export interface SignInMethod {
  /** The body, for the document. */
  readonly body?: $ZodType
  /** Whether newcomers get an account, with the `registerFields` that the body has too; for the document. */
  readonly signsUp?: boolean
  /** What it throws besides what any sign-in does, for the document. */
  readonly refusals?: readonly HttpError[]
  /** Whether a body is meant for it. */
  takes(body: Fields): boolean
  /** Responds, by `accounts.signIn`. `own` is the id of the only account that it may be; undefined if any. */
  respond(body: Fields, request: ApiRequest, own: string | undefined): Promise<Response>
}

/** A second factor. */
export interface SecondFactor {
  /** As `secondStep` lists it. */
  readonly name: string
  /** The member of a body that has the answer, and its type. */
  readonly answer: readonly [key: string, type: 'string' | 'object']
  /** Whether a sign-in by one factor is asked for it. If not, it serves where others are asked for, or a role needs one. */
  readonly asks: boolean
  /**
   * Whether `user` has it. One that is being removed counts, unless it is asked whether it `stays`. A text means yes, and
   * tells it from one that is set up later: a second step that was asked for before can't be answered by that one.
   */
  isEnrolled(user: Fields, stays?: boolean): Promise<boolean | string>
  /** Whether an answer is right; uses it up. Its try has been counted. `ticket` is that of the first step. */
  isRight(user: Fields, answer: unknown, request: ApiRequest, ticket: string): Promise<boolean>
}

/** Tokens that act for an account, other than those of sessions. */
export interface Bearer {
  /** Whether a token looks like one of these. Reads nothing. */
  takes(token: string): boolean
  /**
   * The account that a token acts for at this request, and the claims that `request.auth` gets. Undefined for a bad
   * token, a 401. Throw a 403 if it may not do this.
   */
  read(
    token: string,
    request: ApiRequest,
  ): Promise<{ readonly user: Fields; readonly claims: Fields } | undefined>
  /** Whether `user` has tokens that are good. If the first proof of an address ends them, that is reported as `key-removed`. */
  has?(user: Fields): Promise<boolean>
}

/** The account that a body names. */
export interface NamedAccount {
  /** A key for queues: the same however it is typed, and whether or not the account exists. */
  readonly key: string | undefined
  /** Finds the account. An identifier that opens nothing finds nothing. */
  find(): Promise<Fields | undefined>
}

/** A code, or a part of a link, to be mailed. */
export interface SentCode {
  readonly code: string
  readonly expiresAt: Date
  /** Called if it could not be sent. */
  takeBack?(): Promise<void>
}

/** What a new account gets besides. */
export interface NewAccount {
  /** A name for it, if the model has the field and it is no identifier. */
  readonly name?: string | undefined
  /**
   * Called once the account is stored, before `onRegister` and the event: stores what opens it. If it resolves to false, another
   * request was faster, and the account is removed.
   */
  claim?(user: Fields): Promise<boolean>
}

/** What a sign-in by a method goes by. */
export interface MethodSignIn {
  /** Whether it shows two factors at once; then no second step is asked for. */
  readonly isStrong?: boolean
  /** What must still be true of the account's record when the session opens. */
  readonly expect?: Fields
  /** Set as `SignInMethod.respond` gets it. */
  readonly own?: string | undefined
}

/** The accounts of an auth router, as its methods see them. Records are whole: `_id` and all secrets. */
export interface Accounts {
  /** The user model. */
  readonly model: Model
  /** The path on which the auth router is mounted. */
  readonly mount: string
  /** The path of a route, relative to the mount; empty if `routes` has switched it off. */
  path(route: string): string
  readonly host: Host
  readonly logger: Logger
  /** Epoch milliseconds. */
  now(): number
  /**
   * A collection of the method's own, made by `defineModel`; start-up, `fieldgate check`, `backfill` and `copy` know it.
   * No route shows it. What security rests on must be one conditional write: `update`, `delete` or a unique `insert`.
   */
  collection(model: Model): Collection
  /** A new `_id` for a record of such a collection. */
  newId(): string
  /** What the account is called where its user sees it beside others: its identifier. */
  labelOf(user: Fields): string
  /**
   * A MAC of `text` that only this method of this router can make; with `'model'`, of any router of the user model with this
   * secret: for what is stored for an account, which may be signed in to on each of them.
   */
  seal(text: string, by?: 'model'): string
  /** Whether `sealed` is that of `text`, under any secret of `token.secret`. */
  isSealed(sealed: unknown, text: string): boolean
  /** `text`, readable only where `bound` is the same again, and by whom `seal` says. */
  encrypt(text: string, bound: string, by?: 'model'): Promise<string>
  /** What was encrypted; undefined if it was not made here, or for something else. */
  decrypt(sealed: unknown, bound: string): Promise<string | undefined>
  /**
   * What each record of a factor must keep, to be compared at each use: it changes when the account is taken over by a
   * first proof, which ends everything from before.
   */
  era(user: Fields): string
  /** The same for what ends when the account is disabled, too. */
  activeEra(user: Fields): string
  /**
   * What a mailed code is bound to: it changes with the era, the password and the address. For a person without an account, too.
   */
  codeState(user: Fields): string
  /** The option `otp`. */
  readonly otp: Required<Omit<OtpOptions, 'deliver'>>
  /** Whether `prove` can prove addresses: there is mail, and the model has the fields. */
  readonly provesMail: boolean
  /** Whether the model notes which addresses are proven, and some method or mail proves them. */
  readonly keepsMailProof: boolean
  /** Whether the user has proven the account's address. */
  hasProven(user: Fields): boolean
  /** The body of a request, an object. */
  body(request: ApiRequest): Promise<Fields>
  /** The account with that id. */
  byId(id: unknown): Promise<Fields | undefined>
  /**
   * The account that a body names by an identifier; undefined if it names none. With `own`, as `respond` gets it, that of the
   * signed-in user, unless the body names another one.
   */
  named(body: Fields, own?: string): NamedAccount | undefined
  /** The values of an account to be, for the address that a body names; undefined if it names none. It has no `_id`. */
  newcomer(body: Fields): Fields | undefined
  /**
   * Makes the account of a newcomer who has proven the address, with those `registerFields` that `body` has. Undefined if
   * somebody else has the address by now. Throws a 400 with `fields`. Without a newcomer, the account gets no address.
   */
  create(
    newcomer: Fields | undefined,
    body: Fields,
    request: ApiRequest,
    more?: NewAccount,
  ): Promise<Fields | undefined>
  /** Whether the account knows the client of `request`. */
  isKnown(user: Fields, request: ApiRequest): boolean
  /** Writes as much as a try costs, for those who have nothing to count. */
  pretendWrite(): Promise<void>
  /** Whether the account may not sign in. */
  isDisabled(user: Fields): boolean
  /** Whether guesses have locked the account for the client of `request`. */
  isLocked(user: Fields, request: ApiRequest): boolean
  /**
   * Responds that a code is sent if the account exists; looks for the account afterwards, and mails what `make` returns
   * for it, at its address. Undefined sends nothing. So neither the response nor its time tells who has an account.
   */
  sendCode(
    request: ApiRequest,
    find: () => Promise<Fields | undefined>,
    make: (user: Fields) => Promise<SentCode | undefined>,
  ): Promise<Response>
  /**
   * Notes that `user` has the mailbox of their address, by something that was mailed there and is used up. The first
   * proof on an account ends every way in from before, factors and keys included. The user after it; undefined if the
   * address opens nothing, or the account changes meanwhile. With `own`, as `respond` gets it, the password and the present
   * session stay.
   */
  prove(user: Fields, request: ApiRequest, own?: string): Promise<Fields | undefined>
  /** The signed-in user, if they have signed in within ten minutes, with a second factor if they have one. Throws a 403. */
  recent(request: ApiRequest): Promise<Fields>
  /** The signed-in user, if they have signed in with a second factor, or have none. Throws a 403. */
  strong(request: ApiRequest): Promise<Fields>
  /** Uses a text up, such as a ticket of your own; false if it was used before. It is remembered until `expiresAt`. */
  useOnce(text: string, expiresAt: number): Promise<boolean>
  /** Throws a 409 if nothing opens the account of `user` any more, a code by mail included. */
  checkWayLeft(user: Fields): Promise<void>
  /** Throws a 409 if `user` has a role that needs a second factor and has none left. */
  checkFactorLeft(user: Fields): Promise<void>
  /**
   * Signs `user` in: asks for a second step if there is one, and responds. Throws what refuses the account, and a 401 if
   * it changes meanwhile. Count the tries of a secret before you compare it.
   */
  signIn(user: Fields, request: ApiRequest, signIn?: MethodSignIn): Promise<Response>
  /** Reports a security event; `provider` is the name of the one that was linked. */
  report(request: ApiRequest, type: SecurityEventType, userId?: unknown, provider?: string): void
  /** Mails the owner that a factor was added or removed, or that `provider` was linked. */
  tell(
    user: Fields,
    purpose: 'factorAdded' | 'factorRemoved' | 'providerLinked',
    request: ApiRequest,
    provider?: string,
  ): void
}
