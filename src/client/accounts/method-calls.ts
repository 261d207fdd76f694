/** What the routes of methods take and give, by their names. */

import type { CallOptions } from '../sending/call-options.ts'
import type { Result } from '../sending/results.ts'

type Message = Promise<Result<string>>

/** What a sign-in without sessions gets from `confirmLogin`; with them it is a message. */
type Confirmed = { readonly token: string; readonly expiresIn: number }

/** An API key, as the routes show it. */
export interface KeyInfo {
  readonly id: string
  readonly name: string
  readonly createdAt: string
  readonly expiresAt: string | null
  readonly lastUsedAt: string | null
  /** What it may do, as it was given. */
  readonly allow: readonly KeyRule[]
}

/** What a key may do at a mount, `*` for all. */
export interface KeyRule {
  readonly mount: string
  /** `list`, `read`, `create`, `update`, `remove`, or an extra route: `POST /:id/book`. */
  readonly actions: readonly string[]
}

/** What a browser needs for a ceremony, and the ticket to send with its outcome. */
type BegunCeremony = { readonly publicKey: object; readonly ticket: string }

/** Codes for when the authenticator app is lost, each for one sign-in; they are shown once. */
type RecoveryCodes = { readonly recoveryCodes: readonly string[] }

/** The routes that come with `methods`. */
export interface MethodCalls {
  /** Makes the session recent: takes what signs in to the same account, `{ password }` for instance. */
  confirmLogin(
    body: Readonly<Record<string, unknown>>,
    options?: CallOptions,
  ): Promise<Result<string | Confirmed>>
  /** The user's API keys, the newest first. */
  listKeys(options?: CallOptions): Promise<Result<KeyInfo[]>>
  /** A new API key; `key` is shown only here. */
  createKey(
    body: {
      readonly name: string
      readonly expiresAt?: string
      readonly allow: readonly KeyRule[]
    },
    options?: CallOptions,
  ): Promise<Result<KeyInfo & { readonly key: string }>>
  deleteKey(id: string, options?: CallOptions): Message
  /** For admins: ends all keys of a user. */
  deleteUserKeys(id: string, options?: CallOptions): Message
  /** Begins to set up an authenticator app: show `uri` as a QR code, and confirm with its first code. */
  createTotp(
    options?: CallOptions,
  ): Promise<Result<{ readonly secret: string; readonly uri: string; readonly ticket: string }>>
  confirmTotp(
    body: { readonly ticket: string; readonly code: string },
    options?: CallOptions,
  ): Promise<Result<RecoveryCodes>>
  deleteTotp(options?: CallOptions): Message
  /** Begins to register a passkey; `passkeys.register()` does all of it. */
  beginPasskey(options?: CallOptions): Promise<Result<BegunCeremony>>
  createPasskey(
    body: { readonly ticket: string; readonly credential: object; readonly name?: string },
    options?: CallOptions,
  ): Promise<Result<PasskeyInfo>>
  listPasskeys(options?: CallOptions): Promise<Result<PasskeyInfo[]>>
  renamePasskey(
    id: string,
    body: { readonly name: string },
    options?: CallOptions,
  ): Promise<Result<PasskeyInfo>>
  deletePasskey(id: string, options?: CallOptions): Message
  /** Begins a sign-in by passkey; `passkeys.signIn()` does all of it. */
  beginPasskeyLogin(
    body?: { readonly ticket?: string },
    options?: CallOptions,
  ): Promise<Result<BegunCeremony>>
  passkeyLogin(
    body: { readonly ticket: string; readonly credential: object },
    options?: CallOptions,
  ): Promise<Result<{ readonly token: string; readonly expiresIn: number }>>
  /** Signs in by the code that the browser has brought from a provider; `oidc.finish()` does it. */
  oidcLogin(
    body: { readonly code: string; readonly verifier?: string },
    options?: CallOptions,
  ): Promise<Result<{ readonly token: string; readonly expiresIn: number }>>
  /** Mails a code for `login({ identifier, otp })`, if the account exists. */
  sendLoginCode(body: { readonly identifier: string }, options?: CallOptions): Message
  /** New recovery codes; those before no longer work. */
  createRecoveryCodes(options?: CallOptions): Promise<Result<RecoveryCodes>>
}

/** A passkey, as the routes show it. */
export interface PasskeyInfo {
  readonly id: string
  readonly name: string
  readonly createdAt: string
  readonly lastUsedAt: string | null
  /** Whether it is kept on several devices. */
  readonly synced: boolean
}

/** The ceremonies of passkeys in a browser. They load `@simplewebauthn/browser`, which you install. */
export interface PasskeyCeremonies<S = unknown> {
  /** Registers a passkey for the signed-in user. If they cancel, it fails with status 0. */
  register(options?: {
    readonly name?: string
  }): Promise<Result<S extends object ? PasskeyInfo : unknown>>
  /**
   * Signs in by a passkey. With `autofill`, the browser offers it in a field with `autocomplete="username webauthn"`. With the
   * `ticket` of a first step, it is the second one.
   */
  signIn(options?: { readonly autofill?: boolean; readonly ticket?: string }): Promise<Result<S>>
  /** Makes the session recent by a passkey of the signed-in user, as `confirmLogin` does by a password. */
  confirm(): Promise<Result<string | Confirmed>>
}

/** Signing in at OpenID providers, in a browser. */
export interface OidcCeremonies<S = unknown> {
  /** Leaves the page for a provider, which sends the user to `returnTo`: a page of the app that the server knows. */
  begin(provider: string, options: { readonly returnTo: string }): Promise<never>
  /**
   * On that page: signs in. Undefined if the user comes from somewhere else, so you may call it on every page. If they have
   * cancelled or the provider has refused, it fails with status 0 and the provider's word: `access_denied`.
   */
  finish(): Promise<Result<S> | undefined>
}

/** The routes of each method, by its name. */
export interface CallsOf {
  readonly passkeys:
    | 'beginPasskey'
    | 'createPasskey'
    | 'listPasskeys'
    | 'renamePasskey'
    | 'deletePasskey'
    | 'beginPasskeyLogin'
    | 'passkeyLogin'
  readonly oidc: 'oidcLogin'
  readonly emailCode: 'sendLoginCode'
  readonly totp: 'createTotp' | 'confirmTotp' | 'deleteTotp' | 'createRecoveryCodes'
  readonly apiKeys: 'listKeys' | 'createKey' | 'deleteKey' | 'deleteUserKeys'
}
